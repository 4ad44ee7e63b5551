import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
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
import type { Environment, ModelEndpoint } from '../config-schema/index.ts'
import { createGitHubApp, type GitHubApp } from '../github/index.ts'
import { holdOwnerLock, type Ledger, openSqliteLedger } from '../ledger/index.ts'
import { createInProcessQueue, type Queue } from '../queue/index.ts'
import { type Logger, registerSecret } from '../telemetry/index.ts'
import { type Signer, startClaimLoop, type TaskProgress, type WorkerPorts, type WorkerSettings } from '../worker/index.ts'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'
import { followOperator } from './follow-operator.ts'
import { installationSigner, readOrMakeKey } from './keys.ts'
import { cliLimits } from './limits.ts'
import { type OutboxLead, openOutboxLead } from './outbox-lead.ts'
import { taskLimitsOf } from './read-operator.ts'
import { sandboxUser } from './sandbox-user.ts'
import { takeSlot } from './take-slot.ts'
import { tenantsOf } from './tenants.ts'

export type ServeOptions = {
  dataDir: string
  host: string
  port: number
  github: { apiUrl: string; appId: string; privateKey: string; webhookSecret: string }
  /** Lower-case; null = every owner (not in production). */
  allowedOwners: readonly string[] | null
  model: ModelEndpoint
  environment: Environment
  logger: Logger
  progress(taskId: string, update: TaskProgress): void
  /** Told of what became of each delivery. */
  settled?(deliveryId: string, settled: SettledDelivery): void
}

export type Serving = { url: string; close(): Promise<void> }

const webhookPaths = ['/api/github/webhooks', '/webhook']

/** What both halves share in this process. */
type Parts = {
  lead: OutboxLead
  ledger: Ledger
  queue: Queue
  github: GitHubApp
  markerKey: Uint8Array
  signer: Signer
  owner: string
  settings(): WorkerSettings
}

/** Both halves in one process: the receiver, the intake of stored deliveries with its outbox, and one claim loop. */
export async function startServe(options: ServeOptions): Promise<Serving> {
  const { dataDir, environment } = options
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  registerSecret(options.github.webhookSecret)
  registerSecret(options.model.apiKey)
  const follow = followOperator(environment, dataDir, options.logger)
  const settings = follow()
  const { limits } = settings
  // Whatever the operator may have got wrong is found before anything is opened that would keep the process alive.
  const signer = installationSigner(dataDir, environment, settings)
  const owner = `serve-${ulid()}`
  const parts: Parts = {
    lead: openOutboxLead(dataDir),
    ledger: openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now }),
    queue: createInProcessQueue(),
    github: createGitHubApp({ ...options.github, timeoutMs: limits.githubTimeoutMs }),
    markerKey: readOrMakeKey(dataDir, 'marker.key'),
    signer,
    settings: follow,
    owner,
  }
  const lock = holdOwnerLock(dataDir, owner)
  // The door is opened first, so that a port in use is found before anything is worked on.
  let intake: IntakeLoop | null = null
  let leaving = false
  const notReady = createReadiness({
    ledger: parts.ledger,
    owner,
    caughtUp: () => intake?.caughtUp() ?? false,
    leaving: () => leaving,
    now: Date.now,
  })
  const server = await openReceiver(options, limits.deliveryBytesMax, parts.ledger, { notReady, onDelivery: () => intake?.wake() }).catch(
    async error => {
      await parts.ledger.close()
      lock.release()
      throw listenError(error, options)
    },
  )
  const opened = openIntake(options, parts)
  intake = opened
  const claims = startClaimLoop(parts.queue, workerPorts(options, parts))
  return {
    url: `http://${options.host}:${(server.address() as AddressInfo).port}${webhookPaths[0]}`,
    async close() {
      leaving = true
      // Running tasks first: an orchestrator that waits only so long must find them handed back.
      await claims.drain()
      await closeDoor(server)
      await opened.stop()
      await parts.queue.close()
      await parts.ledger.close()
      parts.lead.release()
      lock.release()
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

function listenError(error: unknown, { host, port }: ServeOptions): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new UsageError(`port ${port} is in use`, [
      'name another one: --port N',
      'another serve may share this data folder, on a port of its own',
    ])
  if (code === 'EACCES') return new UsageError(`port ${port} may not be used by this user`, ['name one above 1023: --port N'])
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UsageError(`this machine has no address ${escapeText(host)}`, ['name another one: --host ADDRESS'])
  return error
}

async function openReceiver(
  options: ServeOptions,
  deliveryBytesMax: number,
  ledger: Ledger,
  told: Pick<ReceiverPorts, 'notReady' | 'onDelivery'>,
): Promise<Server> {
  const server = createReceiver(
    { secret: options.github.webhookSecret, deliveryBytesMax, paths: webhookPaths },
    { recordDelivery: delivery => ledger.recordDelivery(delivery), ...told, now: Date.now, logger: options.logger },
  )
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return server
}

function openIntake(options: ServeOptions, { lead, ledger, queue, github, markerKey, settings }: Parts) {
  return startIntakeLoop({
    intake: {
      github,
      ledger,
      queue,
      now: Date.now,
      allowedOwners: options.allowedOwners,
      get allowedBots() {
        return settings().operator.bots ?? []
      },
      readSwitch: async () => ((await ledger.switch('runs'))?.value === 'pulled' ? 'pulled' : 'on'),
      newTaskId: () => `t_${ulid()}`,
      ...(options.settled ? { settled: options.settled } : {}),
      settings: async () => {
        const { limits, prefix, operator } = settings()
        const { taskWallMs: wallMs, taskWaitMs: waitMs } = limits
        const { subjectBytesMax, commandsPerCommentMax, commandTextBytesMax, refusalQuietMs, botRunsPerHourMax } = limits
        const numbers = { wallMs, waitMs, subjectBytesMax, commandsPerCommentMax, commandTextBytesMax, refusalQuietMs, botRunsPerHourMax }
        return { prefix, profile: operator.sandbox?.profile ?? null, limits: taskLimitsOf(limits), ...numbers }
      },
    },
    outbox: { github, markerKey },
    leadsOutbox: () => lead.leads(),
    limits: () => settings().limits,
    logger: options.logger,
  })
}

function workerPorts(options: ServeOptions, { ledger, github, markerKey, signer, owner, settings }: Parts): WorkerPorts {
  return {
    ledger,
    github,
    markerKey,
    owner,
    dataDir: options.dataDir,
    model: options.model,
    logger: options.logger,
    progress: options.progress,
    user: sandboxUser(settings(), 0),
    tenants: tenantsOf(options.allowedOwners),
    takeSlot: () => takeSlot(options.dataDir),
    userOfSlot: slot => sandboxUser(settings(), slot),
    sessionPlace: 'thread',
    crashpoint: options.environment.GROKBOT_CRASHPOINT ?? null,
    signer,
    settings: async () => settings(),
    now: Date.now,
  }
}
