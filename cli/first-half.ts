import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ulid } from 'ulid'
import {
  createReadiness,
  createReceiver,
  type IntakeLoop,
  type ReceiverPorts,
  type SettledDelivery,
  startIntakeLoop,
} from '../app/index.ts'
import { createGitHubApp, type GitHubApp } from '../github/index.ts'
import { registerSecret } from '../telemetry/index.ts'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'
import { cliLimits } from './limits.ts'
import { openPages } from './open-pages.ts'
import { openOutboxLead } from './outbox-lead.ts'
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

/** The receiver, the intake of stored deliveries and its outbox. */
export async function startFirstHalf(options: FirstHalfOptions, parts: Parts): Promise<FirstHalf> {
  const { webhookSecret } = options.github
  registerSecret(webhookSecret)
  const { limits } = parts.settings()
  const github = createGitHubApp({ ...options.github, timeoutMs: limits.githubTimeoutMs })
  let intake: IntakeLoop | null = null
  let leaving = false
  const notReady = createReadiness({
    ledger: parts.ledger,
    owner: parts.owner,
    caughtUp: () => intake?.caughtUp() ?? false,
    leaving: () => leaving,
    now: Date.now,
  })
  // The door is opened first, so that a port in use is found before anything is worked on.
  const pages = openPages(options.github.apiUrl, parts)
  const server = await openReceiver(options, parts, { notReady, pages, onDelivery: () => intake?.wake() })
  const lead = openOutboxLead(parts.dataDir)
  const opened = startIntakeLoop({
    intake: intakePorts(options, github, parts),
    outbox: { github, markerKey: parts.markerKey },
    leadsOutbox: () => lead.leads(),
    limits: () => parts.settings().limits,
    logger: parts.logger,
  })
  intake = opened
  return {
    url: `http://${options.host}:${(server.address() as AddressInfo).port}${webhookPaths[0]}`,
    github,
    leave() {
      leaving = true
    },
    async close() {
      leaving = true
      await closeDoor(server)
      await opened.stop()
      lead.release()
    },
  }
}

async function closeDoor(server: Server): Promise<void> {
  const closed = new Promise(done => server.close(done))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), cliLimits.lastAnswersMs)
  await closed
  clearTimeout(late)
}

async function openReceiver(
  options: FirstHalfOptions,
  { ledger, settings, logger }: Parts,
  told: Pick<ReceiverPorts, 'notReady' | 'onDelivery' | 'pages'>,
): Promise<Server> {
  const { deliveryBytesMax } = settings().limits
  const server = createReceiver(
    { secret: options.github.webhookSecret, deliveryBytesMax, paths: webhookPaths },
    { recordDelivery: delivery => ledger.recordDelivery(delivery), ...told, now: Date.now, logger },
  )
  server.listen(options.port, options.host)
  await once(server, 'listening').catch(error => {
    throw listenError(error, options)
  })
  return server
}

function listenError(error: unknown, { host, port }: FirstHalfOptions): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new UsageError(`port ${port} is in use`, [
      'name another one: --port N',
      'another process may share this data folder, on a port of its own',
    ])
  if (code === 'EACCES') return new UsageError(`port ${port} may not be used by this user`, ['name one above 1023: --port N'])
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UsageError(`this machine has no address ${escapeText(host)}`, ['name another one: --host ADDRESS'])
  return error
}

function intakePorts(options: FirstHalfOptions, github: GitHubApp, { ledger, queue, settings }: Parts) {
  return {
    github,
    ledger,
    queue,
    now: Date.now,
    allowedOwners: options.allowedOwners,
    get allowedBots() {
      return settings().operator.bots ?? []
    },
    readSwitch: async () => ((await ledger.switch('runs'))?.value === 'pulled' ? ('pulled' as const) : ('on' as const)),
    newTaskId: () => `t_${ulid()}`,
    ...(options.settled ? { settled: options.settled } : {}),
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
