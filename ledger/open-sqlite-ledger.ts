import { randomBytes } from 'node:crypto'
import { saltBytes } from '../domain/index.ts'
import { acceptTask } from './accept-task.ts'
import { appendEvents } from './append-events.ts'
import { aroundAppend } from './around-append.ts'
import { budget, settleReservations } from './budgets.ts'
import { claimNext, claimTask } from './claim-task.ts'
import { type CommitGroup, createCommitGroup } from './commit-group.ts'
import { findDelivery, pendingDeliveries, pruneDeliveries, recordDelivery, settleDelivery } from './deliveries.ts'
import { findEffectRow, listOpenEffects } from './effect-list.ts'
import { eraseTask, finishErasings } from './erase-task.ts'
import { holdsTask, releaseTask, renewLease, runningOwners } from './lease.ts'
import type { Ledger } from './ledger.ts'
import type { LedgerContext } from './ledger-context.ts'
import { type LedgerLimits, ledgerLimits } from './limits.ts'
import { createPayloadFiles } from './payload-files.ts'
import { probeWrite } from './probe-write.ts'
import { queueFigures } from './queue-figures.ts'
import { findTask, PayloadMissing, readEvents, readRecord } from './read-events.ts'
import { runsAhead } from './runs-ahead.ts'
import { type Durability, openSqliteConnection } from './sqlite-connection.ts'
import { findSwitch, setSwitch } from './switches.ts'
import { findTaskRow, listTasks } from './task-rows.ts'

export type SqliteLedgerOptions = {
  /** A folder of our own on a local disk; made if it is missing. */
  dataDir: string
  /** `process` is a session's own connection to the file that a durable one of the same process has opened. */
  durability: Durability
  /** UTC milliseconds. */
  clock: () => number
  /** 16 bytes for each payload; only a test of the format fixes them. */
  salt?: () => Uint8Array
  limits?: Partial<LedgerLimits>
}

/** Opens the embedded ledger. Throws when the folder can not be used or was written by a newer version. */
export function openSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { dataDir, durability, clock, salt = createSaltPool() } = options
  const limits = { ...ledgerLimits, ...options.limits }
  const connection = openSqliteConnection({ dataDir, durability, limits })
  const context: LedgerContext = { clock, salt, limits, files: createPayloadFiles(dataDir) }
  const group = createCommitGroup(connection, durability, limits)
  const eraser = { group, connection, context }
  if (durability === 'durable') finishErasings(eraser)
  return {
    ...taskMethods(group, context),
    ...eventMethods(group, context),
    ...otherMethods(group, context),
    eraseTask: async (taskId, by) => eraseTask(eraser, taskId, by),
    close: async () => {
      group.drain()
      connection.close()
    },
  }
}

/** Asking the system for 16 bytes costs as much as storing an event, so many are drawn at once; none is used twice. */
function createSaltPool(): () => Uint8Array {
  const salts = 256
  let pool = Buffer.alloc(0)
  return () => {
    if (pool.byteLength === 0) pool = randomBytes(saltBytes * salts)
    const salt = pool.subarray(0, saltBytes)
    pool = pool.subarray(saltBytes)
    return salt
  }
}

type TaskMethod = 'acceptTask' | 'claimNext' | 'claimTask' | 'runningOwners' | 'renewLease' | 'holdsTask' | 'releaseTask' | 'task' | 'tasks'

function taskMethods({ write, read }: CommitGroup, context: LedgerContext): Pick<Ledger, TaskMethod> {
  return {
    acceptTask: task => aroundAppend([task.first.type, ...task.more.map(({ type }) => type)], () => write(() => acceptTask(context, task))),
    claimNext: options => write(() => claimNext(options)),
    claimTask: (taskId, options) => write(() => claimTask(taskId, options)),
    runningOwners: async () => read(() => runningOwners({})).map(({ owner }) => owner),
    renewLease: (claim, leaseUntil) => write(() => renewLease(claim, leaseUntil)),
    holdsTask: async (claim, now) => read(() => holdsTask(claim, now)),
    releaseTask: claim => write(() => releaseTask(claim, context.clock())),
    task: async taskId => read(() => findTaskRow(taskId)),
    tasks: async filter => read(() => listTasks(filter)),
  }
}

type EventMethod = 'append' | 'readEvents' | 'readRecord' | 'openEffects' | 'effect'

function eventMethods({ write, read }: CommitGroup, context: LedgerContext): Pick<Ledger, EventMethod> {
  return {
    append: batch =>
      aroundAppend(
        batch.events.map(({ type }) => type),
        () => write(() => appendEvents(context, batch)),
      ),
    readEvents: (taskId, afterSeq = 0, limit = Number.POSITIVE_INFINITY) => readEvents(read, context, taskId, afterSeq, limit),
    readRecord: taskId => readRecord(read, context, taskId),
    openEffects: async filter => readTwice(() => read(() => listOpenEffects(context, filter))),
    effect: async effectId => readTwice(() => read(() => findEffectRow(context, effectId))),
  }
}

/** A payload file may be erased between the row and the file; the second look then sees the task as erased. */
function readTwice<Result>(look: () => Result): Result {
  try {
    return look()
  } catch (cause) {
    if (!(cause instanceof PayloadMissing)) throw cause
    return look()
  }
}

type OtherMethod =
  | 'recordDelivery'
  | 'knowsDelivery'
  | 'pendingDeliveries'
  | 'settleDelivery'
  | 'pruneDeliveries'
  | 'budget'
  | 'settleBudget'
  | 'switch'
  | 'setSwitch'
  | 'probeWrite'
  | 'queueFigures'
  | 'runsAhead'

function otherMethods({ write, read }: CommitGroup, context: LedgerContext): Pick<Ledger, OtherMethod> {
  const { clock } = context
  return {
    recordDelivery: delivery => write(() => recordDelivery(delivery)),
    knowsDelivery: async id => read(() => findDelivery({ id })).length > 0,
    pendingDeliveries: async limit => read(() => pendingDeliveries({ limit })),
    settleDelivery: async (id, state, note) => void (await write(() => settleDelivery({ id, state, note, at: clock() }))),
    pruneDeliveries: async settledBefore => (await write(() => pruneDeliveries({ settledBefore }))).length,
    budget: async key => read(() => budget(key)),
    settleBudget: (taskId, spentMicroUsd) =>
      write(function* () {
        const task = yield* findTask(taskId)
        return task === null ? false : yield* settleReservations(task.number, spentMicroUsd)
      }),
    switch: async name => read(() => findSwitch(name)),
    setSwitch: async (name, value, by) => void (await write(() => setSwitch({ name, value, at: clock(), by }))),
    probeWrite: async owner => void (await write(() => probeWrite({ owner, at: clock() }))),
    queueFigures: async () => read(() => queueFigures(context)),
    runsAhead: async taskId => read(() => runsAhead(taskId)),
  }
}
