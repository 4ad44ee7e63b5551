import { dirname, join } from 'node:path'
import type { SandboxReport } from '../domain/index.ts'
import { entryPath } from '../entries.ts'
import { type EngineMounts, holderArguments } from './bwrap-arguments.ts'
import { findUnusableEntry } from './egress/allow-list.ts'
import { findEngine } from './engine.ts'
import { explainFailure } from './failure-cause.ts'
import { createFifoStore } from './fifo-store.ts'
import { startHolder } from './holder.ts'
import { openUnconfined } from './open-unconfined.ts'
import { planTree } from './plan-tree.ts'
import { boundBelowEtc } from './prepare-etc.ts'
import { describeProfile, type Profile } from './profiles.ts'
import { prepareRunFolder, type RunFolder } from './run-folder.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'
import { hostArchitecture } from './seccomp/program.ts'
import { openSession } from './session.ts'
import { provideSharedFiles } from './shared-files.ts'

/**
 * Opens the sandbox of one session: checks what was asked for, plans what is visible, starts the holder, and hands over to
 * the session, which measures the first command sandbox. It does not throw for what the machine or the options lack: then
 * `unavailable` says why and how to mend it, and nothing is ever run without a sandbox instead.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const profile = describeProfile(options.profile)
  if (!profile) return unavailable(options, `there is no sandbox profile named ${JSON.stringify(options.profile)}`)
  const refusal = refusalOf(options, profile)
  if (refusal) return unavailable(options, refusal)
  const found = findEngine()
  if (found.kind === 'missing') return unavailable(options, found.reason)
  const folder = prepareRunFolder(options.runDir, options.user)
  if (!profile.confined) return openUnconfined(options, found.engine, folder)

  const architecture = hostArchitecture()
  if (architecture === null) return unavailable(options, `no system call filter is written for ${process.arch}`, ['seccomp'])
  const shared = provideSharedFiles(options.sharedDir ?? join(options.runDir, 'shared'), architecture)
  const plan = planTree(options, profile, folder, [{ source: shared.etc, target: '/etc' }, ...boundBelowEtc()])
  if (plan.kind === 'impossible') return unavailable(options, plan.reason)

  const fifos = createFifoStore(found.engine, folder.fifo, options.user, options.poolSize + 1)
  const net = options.network.kind !== 'host'
  const started = await startHolder(
    found.engine,
    options.user,
    holderArguments(found.engine, plan.steps, folder, engineMounts(folder), net),
  )
  if (started.kind === 'failed') return unavailable(options, explainFailure(started))
  const session = await openSession({
    options,
    profile,
    folder,
    seccomp: shared.seccomp,
    engine: found.engine,
    holder: started.holder,
    steps: plan.steps,
    fifos,
  })
  if (session.kind === 'opened') return session.sandbox
  await started.holder.close()
  return unavailable(options, session.reason, session.missing)
}

function refusalOf(options: SandboxOptions, profile: Profile): string | null {
  const { network, user } = options
  if (!profile.networks.includes(network.kind)) return `the profile ${profile.name} has no network "${network.kind}"`
  if (user.uid === 0) return 'a sandbox must not be started as root: give the session a user of its own'
  const self = process.getuid?.()
  if (self !== 0 && self !== user.uid) return `a worker that runs as uid ${self} cannot start a sandbox as uid ${user.uid}`
  if (network.kind !== 'proxy') return null
  const unusable = findUnusableEntry([...network.allow, ...(options.privateEgress ?? [])])
  return unusable ? `the allow-list has an entry that can never match: ${JSON.stringify(unusable.host)}, port ${unusable.port}` : null
}

function unavailable(options: SandboxOptions, reason: string, missing: readonly string[] = []): Sandbox {
  const report: SandboxReport = { engine: 'bwrap', state: 'none', profile: options.profile, missing: [...missing] }
  return {
    report,
    unavailable: { reason, missing },
    files: null,
    egress: () => [],
    run: async () => ({ kind: 'unavailable', reason, missing }),
    close: async () => {},
  }
}

function engineMounts(folder: RunFolder): EngineMounts {
  return { fileHost: dirname(entryPath('fileHost')), relay: dirname(entryPath('relay')), proxy: folder.proxy }
}
