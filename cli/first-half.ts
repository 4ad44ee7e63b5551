import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ulid } from 'ulid'
import {
  answerOperator,
  createReceiver,
  type DeliverySweepMeter,
  type IntakeLoop,
  type ReceiverPorts,
  type SettledDelivery,
  startDeliverySweep,
  startIntakeLoop,
} from '../app/index.ts'
import { createGitHubApp, type GitHubApp, listHookDeliveries, redeliver } from '../github/index.ts'
import { registerSecret } from '../telemetry/index.ts'
import type { ClaimLoop } from '../worker/index.ts'
import { closeDoor, listenAt } from './door.ts'
import { countIntake } from './metrics/count-intake.ts'
import { loopOf, openOperations } from './open-operations.ts'
import { openPages } from './open-pages.ts'
import { type OutboxLead, openOutboxLead } from './outbox-lead.ts'
import { pageLink } from './page-link.ts'
import type { Parts } from './parts.ts'
import { taskLimitsOf } from './read-operator.ts'

export type FirstHalfOptions = {
  host: string
  port: number
  github: { apiUrl: string; appId: string; privateKey: string; webhookSecret: string }
  /** Lower-case; null = every owner (not in production). */
  allowedOwners: readonly string[] | null
  /** Told of what became of each delivery. */
  settled?(deliveryId: string, settled: SettledDelivery): void
}

export type FirstHalf = {
  url: string
  github: GitHubApp
  /** From now on `/readyz` says no: deliveries should go elsewhere. */
  leave(): void
  close(): Promise<void>
}

const webhookPaths = ['/api/github/webhooks', '/webhook']

/** The receiver, the intake of stored deliveries, its outbox, and the sweep of deliveries that could not be brought. */
export async function startFirstHalf(options: FirstHalfOptions, parts: Parts, claims: () => ClaimLoop | null): Promise<FirstHalf> {
  const { webhookSecret } = options.github
  registerSecret(webhookSecret)
  const { limits } = parts.settings()
  const github = createGitHubApp({ ...options.github, timeoutMs: limits.githubTimeoutMs })
  const meter = countIntake(parts.meters)
  let loop: IntakeLoop | null = null
  let leaving = false
  const operations = openOperations(
    {
      loops: () => [...(loop ? [{ name: 'the intake', turnedAt: loop.turnedAt }] : []), ...loopOf(claims())],
      caughtUp: () => loop?.caughtUp() ?? false,
      leaving: () => leaving,
      running: () => claims()?.running() ?? 0,
    },
    parts,
  )
  // The door is opened first, so that a port in use is found before anything is worked on.
  const server = await openReceiver(options, parts, {
    operations: request => answerOperator(request, operations),
    pages: openPages(options.github.apiUrl, parts),
    onDelivery: () => loop?.wake(),
    meter,
  })
  const lead = openOutboxLead(parts.dataDir)
  const intake = startIntakeLoop({
    intake: intakePorts(options, github, parts, meter),
    outbox: { github, markerKey: parts.markerKey },
    leadsOutbox: () => lead.leads(),
    limits: () => parts.settings().limits,
    logger: parts.logger,
  })
  loop = intake
  const sweep = startDeliverySweep(sweepPorts(github, lead, parts, meter))
  return {
    url: `http://${options.host}:${(server.address() as AddressInfo).port}${webhookPaths[0]}`,
    github,
    leave() {
      leaving = true
    },
    async close() {
      leaving = true
      await closeDoor(server)
      await Promise.all([intake.stop(), sweep.stop()])
      lead.release()
      operations.close()
    },
  }
}

function sweepPorts(github: GitHubApp, lead: OutboxLead, { ledger, settings, logger }: Parts, meter: DeliverySweepMeter) {
  const asApp = github.api(null)
  return {
    leads: () => lead.leads(),
    list: (cursor: string | null) => listHookDeliveries(asApp, cursor),
    redeliver: (id: string) => redeliver(asApp, id),
    ledger,
    limits: () => settings().limits,
    meter,
    now: Date.now,
    logger,
  }
}

async function openReceiver(
  options: FirstHalfOptions,
  { ledger, settings, logger }: Parts,
  told: Pick<ReceiverPorts, 'operations' | 'onDelivery' | 'pages' | 'meter'>,
): Promise<Server> {
  const { deliveryBytesMax } = settings().limits
  const server = createReceiver(
    { secret: options.github.webhookSecret, deliveryBytesMax, paths: webhookPaths },
    { recordDelivery: delivery => ledger.recordDelivery(delivery), ...told, now: Date.now, logger },
  )
  await listenAt(server, options)
  return server
}

function intakePorts(options: FirstHalfOptions, github: GitHubApp, parts: Parts, meter: ReturnType<typeof countIntake>) {
  const { ledger, queue, settings } = parts
  return {
    github,
    link: pageLink(parts),
    ledger,
    queue,
    now: Date.now,
    allowedOwners: options.allowedOwners,
    get allowedBots() {
      return settings().operator.bots ?? []
    },
    readSwitch: async () => ((await ledger.switch('runs'))?.value === 'pulled' ? ('pulled' as const) : ('on' as const)),
    newTaskId: () => `t_${ulid()}`,
    settled(deliveryId: string, settled: SettledDelivery) {
      meter.settled(settled)
      logSettled(parts.logger, deliveryId, settled)
      options.settled?.(deliveryId, settled)
    },
    settings: async () => {
      const { limits, prefix, operator } = settings()
      const { taskWallMs: wallMs, taskWaitMs: waitMs } = limits
      const { subjectBytesMax, commandsPerCommentMax, commandTextBytesMax, refusalQuietMs, botRunsPerHourMax } = limits
      const numbers = { wallMs, waitMs, subjectBytesMax, commandsPerCommentMax, commandTextBytesMax, refusalQuietMs, botRunsPerHourMax }
      const { repositoryDayMicroUsdMax, actorDayMicroUsdMax } = limits
      const day = { repositoryDayMicroUsd: repositoryDayMicroUsdMax || null, actorDayMicroUsd: actorDayMicroUsdMax || null }
      return { prefix, profile: operator.sandbox?.profile ?? null, limits: taskLimitsOf(limits), day, ...numbers }
    },
  }
}

/** What became tasks, and what can not be read: whoever waits for an answer looks there. The rest is counted. */
function logSettled(logger: Parts['logger'], delivery: string, settled: SettledDelivery): void {
  if (settled.kind === 'taken') logger.info({ delivery, tasks: settled.taken.map(({ taskId }) => taskId) }, 'a delivery was taken')
  else if (settled.why === 'malformed') logger.warn({ delivery, reason: settled.reason }, 'a delivery was ignored')
}
