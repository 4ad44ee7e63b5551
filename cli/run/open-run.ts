import { ulid } from 'ulid'
import type { Environment, ModelEndpoint } from '../../config-schema/index.ts'
import { type Claim, findDeadOwners, holdOwnerLock, type Ledger, type NewTask, openSqliteLedger } from '../../ledger/index.ts'
import { type Logger, registerSecret } from '../../telemetry/index.ts'
import type { Signer, TaskProgress, WorkerPorts, WorkerSettings } from '../../worker/index.ts'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'
import { installationSigner, readOrMakeKey } from '../keys.ts'
import { workerSettings } from '../read-operator.ts'
import { sandboxUser } from '../sandbox-user.ts'

/** What a task of this process is marked and signed with. */
export type RunKeys = { markerKey: Uint8Array; signer: Signer }

/** Opened before a task is accepted: one that could never be signed would stay `running` for ever. Throws `UsageError`. */
export function openRunKeys(dataDir: string, environment: Environment, settings: WorkerSettings): RunKeys {
  return { signer: installationSigner(dataDir, environment, settings), markerKey: readOrMakeKey(dataDir, 'marker.key') }
}

/** The ledger of this process, the kernel lock that says it lives, and its keys. */
export type RunPlace = { dataDir: string; ledger: Ledger; owner: string; keys: RunKeys; close(): Promise<void> }

export function openRunPlace(dataDir: string, keys: RunKeys): RunPlace {
  const owner = `run-${ulid()}`
  const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
  const lock = holdOwnerLock(dataDir, owner)
  return {
    dataDir,
    ledger,
    owner,
    keys,
    async close() {
      await ledger.close()
      lock.release()
    },
  }
}

/**
 * Accepts the task and claims it in one transaction (writes of one turn of the event loop share one), so that no `serve`
 * on the same data folder can take it in between.
 */
export async function acceptAndClaim(place: RunPlace, task: NewTask, { limits }: WorkerSettings): Promise<Claim> {
  const [accepted, claim] = await Promise.all([
    place.ledger.acceptTask(task),
    place.ledger.claimTask(task.taskId, claimOptions(place, limits, [])),
  ])
  if (accepted.kind !== 'accepted' || claim === null) throw new Error(`the task ${task.taskId} could not be claimed: ${accepted.kind}`)
  return claim
}

/** Goes on with a task whose process died. Throws `UsageError` when there is nothing to go on with. */
export async function claimAgain(place: RunPlace, taskId: string, { limits }: WorkerSettings): Promise<Claim | 'ended'> {
  const row = await place.ledger.task(taskId)
  const shown = escapeText(taskId)
  if (row === null) throw new UsageError('task-unknown', `there is no task ${shown} in ${escapeText(place.dataDir)}`)
  if (row.erasedAt !== null)
    throw new UsageError(
      'task-erased',
      `the task ${shown} ended as ${row.outcome} and was erased; there is nothing to go on with or to show`,
    )
  if (row.state === 'ended') return 'ended'
  const dead = findDeadOwners(place.dataDir, await place.ledger.runningOwners())
  const claim = await place.ledger.claimTask(taskId, claimOptions(place, limits, dead))
  if (claim === null)
    throw new UsageError('task-busy', `the task ${shown} is being worked on by another process`, [`watch it: grokbot runs show ${shown}`])
  return claim
}

function claimOptions({ owner }: RunPlace, limits: WorkerSettings['limits'], deadOwners: readonly string[]) {
  const now = Date.now()
  return { owner, now, leaseUntil: now + limits.leaseMs, recoveriesMax: limits.recoveriesMax, deadOwners }
}

export type PortsOptions = {
  environment: Environment
  model: ModelEndpoint
  logger: Logger
  sessionPlace: WorkerPorts['sessionPlace']
  progress(taskId: string, update: TaskProgress): void
}

/** What the second half is given here: no GitHub, results as files. */
export function runPorts({ dataDir, ledger, owner, keys }: RunPlace, options: PortsOptions): WorkerPorts {
  const { environment, model, logger, progress } = options
  registerSecret(model.apiKey)
  // A run is short: it ends by the settings it began with.
  const settings = workerSettings(environment, dataDir)
  const user = sandboxUser(settings, 1 + (process.pid % runSlots))
  return {
    ledger,
    dataDir,
    owner,
    github: null,
    link: null,
    model,
    settings: async () => settings,
    user,
    tenants: 'one',
    userOfSlot: () => user,
    takeSlot: () => ({ slot: 0, release: () => undefined }),
    sessionPlace: options.sessionPlace,
    crashpoint: environment.GROKBOT_CRASHPOINT ?? null,
    ...keys,
    progress,
    now: Date.now,
    logger,
  }
}

/** As root, runs that go on side by side should not share a user; slot 0 is a `serve`'s. */
const runSlots = 120
