import type { ModelEndpoint } from '../config-schema/index.ts'
import type { GitHubApp } from '../github/index.ts'
import { registerSecret } from '../telemetry/index.ts'
import { type ClaimLoop, type Signer, startClaimLoop, type TaskProgress } from '../worker/index.ts'
import { countWork } from './metrics/count-work.ts'
import { pageLink } from './page-link.ts'
import type { Parts } from './parts.ts'
import { sandboxUser } from './sandbox-user.ts'
import { takeSlot } from './take-slot.ts'
import { tenantsOf } from './tenants.ts'

export type SecondHalfOptions = {
  github: GitHubApp
  model: ModelEndpoint
  signer: Signer
  /** Lower-case; null = every owner (not in production). */
  allowedOwners: readonly string[] | null
  progress(taskId: string, update: TaskProgress): void
}

/** The claim loop, with everything a task reaches. */
export function startSecondHalf({ github, model, signer, allowedOwners, progress }: SecondHalfOptions, parts: Parts): ClaimLoop {
  registerSecret(model.apiKey)
  const { ledger, queue, markerKey, owner, dataDir, logger, settings, environment } = parts
  const counted = countWork(parts.meters)
  return startClaimLoop(queue, {
    ledger,
    github,
    markerKey,
    link: pageLink(parts),
    owner,
    dataDir,
    model,
    logger,
    claimed: counted.claimed,
    progress(taskId, update) {
      counted.progress(update)
      progress(taskId, update)
    },
    user: sandboxUser(settings(), 0),
    tenants: tenantsOf(allowedOwners),
    takeSlot: () => takeSlot(dataDir),
    userOfSlot: slot => sandboxUser(settings(), slot),
    sessionPlace: 'thread',
    crashpoint: environment.GROKBOT_CRASHPOINT ?? null,
    signer,
    settings: async () => settings(),
    now: Date.now,
  })
}
