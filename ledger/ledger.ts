import type { EventHeader, NewEvent, Outcome, RecordedEvent, TaskAccepted, TaskRefused } from '../domain/index.ts'

/**
 * The one truth about deliveries, tasks, attempts, events, effects and budgets. Two drivers keep this contract: SQLite
 * (embedded) and, later, PostgreSQL. Methods throw only when the database itself fails
 * (`LedgerUnavailable`) or something impossible is asked (`LedgerAssertion`); expected outcomes are values.
 * Every write is one transaction and is durable (fsync) when its promise resolves, unless a ledger was opened with
 * `durability: 'process'` (a session's own events: they survive kill -9, and the next durable commit syncs them too).
 */
export type Ledger = {
  /** Stores a delivery before it is answered. Safe to repeat: a known id is left as it is. */
  recordDelivery(delivery: NewDelivery): Promise<'recorded' | 'known'>
  /** Whether a delivery of that id was ever stored; for ever, because ids are not pruned. */
  knowsDelivery(id: string): Promise<boolean>
  /** Deliveries that were stored and not settled, oldest first. */
  pendingDeliveries(limit: number): Promise<Delivery[]>
  /** `settled`: its commands were accepted or refused. `ignored`: nothing in it concerns us. */
  settleDelivery(id: string, state: 'settled' | 'ignored', note: string): Promise<void>

  /**
   * Writes the task, its first event and its budget reservation, all or none. The meaning key (repository id, comment id,
   * command index) is unique: accepting the same meaning again returns the first task. `over-budget`: the first of its
   * budgets that can not bear the reservation, or has nothing left; nothing was written.
   */
  acceptTask(task: NewTask): Promise<AcceptResult>
  /**
   * Takes a task by inserting attempt n + 1 in the transaction that reads n. Null: nothing to do. First one that was lost,
   * because its lease ran out or its owner is known dead: lowest priority number first, then the oldest. Else one that
   * waits in a lane where none runs: of the lowest priority number, of the tenant that has the fewest running tasks, of
   * those the one that was served longest ago, the oldest. A task whose attempts were lost more than `recoveriesMax` times
   * (handing back is no loss) comes back with `exhausted: true`: the caller only ends it as `errored`.
   */
  claimNext(options: ClaimOptions): Promise<Claim | null>
  /** The same for one named task. Null: unknown, over, being worked on, needs no worker, or its lane is busy. */
  claimTask(taskId: string, options: ClaimOptions): Promise<Claim | null>
  /** Owners of attempts that are open: whom to ask the kernel about, see `findDeadOwners`. */
  runningOwners(): Promise<string[]>
  /** False: the attempt is not the newest any more; its holder must stop. */
  renewLease(claim: Claim, leaseUntil: number): Promise<boolean>
  /** True while the attempt is the newest and its lease has not run out: asked right before every external write. */
  holdsTask(claim: Pick<Claim, 'taskId' | 'attempt'>, now: number): Promise<boolean>
  /** Hands the task back (SIGTERM): its lease ends now, for good, and the next claim takes it at once. */
  releaseTask(claim: Claim): Promise<void>

  /**
   * Appends events if the task's last seq is `expectedSeq` and the attempt is the newest. `moved`: somebody of the same
   * attempt, or an outside request such as a cancel, appended meanwhile; read on from `expectedSeq` and decide again.
   * `fenced`: a newer attempt exists; the caller must stop. `task.ended` also closes the task's row.
   * Attempt 0 is the app's half and outside requests: at any time before the end it may append `cancel.requested`;
   * `effect.*` of effects that were themselves prepared with attempt 0, before and after the end (a reaction may be late);
   * and `task.ended` of a task that needs no worker. Anything else with attempt 0 is fenced.
   * What can only be a bug throws `LedgerAssertion` and writes nothing: a second `task.ended`, anything but `effect.*`
   * after the end, an effect that moves against its state machine, a payload that does not fit its schema.
   */
  append(batch: AppendBatch): Promise<AppendResult>
  /**
   * Events with seq > `afterSeq`, in order. Payloads are parsed by their schema; erased ones are null. At most the first
   * `limit` of them: ten thousand at once hold the thread for a third of a second.
   */
  readEvents(taskId: string, afterSeq?: number, limit?: number): Promise<RecordedEvent[]>
  /** What a bundle needs: every header with its hash, the salt and the payload's bytes (null when erased). */
  readRecord(taskId: string): Promise<LedgerRecord>

  task(taskId: string): Promise<TaskRow | null>
  /** Newest first; the limit counts only those that fit all of what is given. */
  tasks(filter: TaskFilter): Promise<TaskRow[]>
  /** Effects that have no final state, oldest first. */
  openEffects(filter: OpenEffects): Promise<EffectRow[]>
  effect(effectId: string): Promise<EffectRow | null>

  /** What is reserved and spent under a key, such as `repository:7:2026-11-30`. */
  budget(key: string): Promise<BudgetRow>
  /**
   * Turns what is reserved for the task into spending, in each of its budgets; false: it was settled before. `task.ended`
   * does this by itself, with the costs in the task's events. Releasing is settling with 0.
   */
  settleBudget(taskId: string, spentMicroUsd: number): Promise<boolean>

  /** Reads a switch; null when it was never set. */
  switch(name: string): Promise<{ value: string; at: number } | null>
  setSwitch(name: string, value: string, by: string): Promise<void>

  /** Writes something for good that leaves nothing behind: whether a delivery could be stored now. Throws when it could not. */
  probeWrite(owner: string): Promise<void>
  /** How much there is to do, and since when; quick whatever has ended. */
  queueFigures(): Promise<QueueFigures>
  /** What is to be done before a waiting task; null: there is no such task, or it does not wait for a worker. */
  runsAhead(taskId: string): Promise<RunsAhead | null>

  /**
   * Erases every payload of an ended task, its snapshot and its delivery's body; headers and rows stay, the chain still
   * verifies. When it resolves no byte of them is left in the folder. `open`: it has not ended. Safe to repeat.
   */
  eraseTask(taskId: string, by: string): Promise<'erased' | 'open' | 'unknown'>
  /** Takes away the bodies of deliveries settled before that time; their ids stay known. Returns how many. */
  pruneDeliveries(settledBefore: number): Promise<number>
  /** Commits what is waiting. Nothing may be called afterwards. */
  close(): Promise<void>
}

export type NewDelivery = { id: string; event: string; action: string; body: Uint8Array; receivedAt: number }
export type Delivery = NewDelivery & { state: 'pending' | 'settled' | 'ignored' }

export type NewTask = {
  taskId: string
  /** The same request always has the same key, whatever delivery brought it. */
  meaningKey: string
  /** Tasks of one lane run one after another. A lane is one tenant's. */
  laneKey: string
  /** Whom it is done for: `i<installation id>`, or `local`. Tenants take turns. */
  tenantKey: string
  /** 0 is first, `ledgerLimits.priorityMax` last. */
  priority: number
  /** The delivery that brought it: its body is erased with the task. */
  deliveryId?: string | null
  /** False: only the app's own effects are ever done (help, refusals, cancel); it is never claimed. */
  needsWorker: boolean
  actor: string
  commandId: string
  acceptedAt: number
  /** The task's first event: accepted, or refused (then only its reply is ever done). */
  first: { type: 'task.accepted'; payload: TaskAccepted } | { type: 'task.refused'; payload: TaskRefused }
  /** More events of the same transaction, such as the `effect.prepared` of the eyes reaction (attempt 0). */
  more: readonly NewEvent[]
  /** What is set aside until it ends; a limit of null only counts. Each key once. */
  budgets: readonly { key: string; microUsd: number; limitMicroUsd: number | null }[]
  /**
   * Present: it makes the older tasks of its lane with its verb needless. Those that have not ended are asked to end as
   * `superseded`, in the same transaction; the reason is what people read.
   */
  supersedes?: { by: string; reason: string }
}

export type AcceptResult = { kind: 'accepted' | 'known'; taskId: string } | { kind: 'over-budget'; key: string; leftMicroUsd: number }
export type BudgetRow = { key: string; reservedMicroUsd: number; spentMicroUsd: number }

/** `open`: not ended, at one moment: none is missed that is claimed or handed back meanwhile. */
export type TaskFilter = { state?: TaskRow['state'] | 'open'; laneKey?: string; needsWorker?: boolean; limit: number }

export type TaskRow = {
  taskId: string
  state: 'waiting' | 'running' | 'ended'
  outcome: Outcome | null
  verb: string
  repository: string
  laneKey: string
  needsWorker: boolean
  acceptedAt: number
  endedAt: number | null
  deadlineAt: number
  attempts: number
  /** Who has the task, or had it last; null: nobody yet, or it was handed back. */
  owner: string | null
  cancelRequestedAt: number | null
  lastSeq: number
  erasedAt: number | null
}

export type ClaimOptions = { owner: string; now: number; leaseUntil: number; recoveriesMax: number; deadOwners: readonly string[] }
export type Claim = { taskId: string; attempt: number; owner: string; leaseUntil: number; recovers: number | null; exhausted: boolean }

export type AppendBatch = { taskId: string; attempt: number; actor: string; at: number; expectedSeq: number; events: readonly NewEvent[] }
/** `events`: what was appended, as it would be read back. */
export type AppendResult =
  | { kind: 'appended'; lastSeq: number; events: RecordedEvent[] }
  | { kind: 'moved'; lastSeq: number }
  | { kind: 'fenced'; attempt: number }

export type LedgerRecord = {
  taskId: string
  entries: { header: EventHeader & { hash: string }; salt: Uint8Array | null; payload: Uint8Array | null }[]
}

/** Those of the app's outbox, or those of workers whose tasks have ended, so that nobody else is doing them. */
export type OpenEffects = ({ attempt: 'app' } | { attempt: 'worker'; ended: true }) & {
  /** `in-flight`: prepared or dispatched. `unknown`: sent, and nobody could say whether it is there. */
  states: 'in-flight' | 'unknown'
  updatedBefore: number
  /** Absent: however old. */
  updatedAfter?: number
  limit: number
}

export type EffectRow = {
  effectId: string
  taskId: string
  /** The attempt that prepared it. */
  attempt: number
  kind: string
  key: string
  state: 'prepared' | 'dispatched' | 'confirmed' | 'rejected' | 'unknown'
  /** How often it was dispatched. */
  tries: number
  intent: unknown
  /** What exists at the other side, once it was settled; null before. */
  remote: unknown
  updatedAt: number
}

/** Counts of what is open. Ages are milliseconds; null: there is none. */
export type QueueFigures = {
  /** Tasks that wait for a worker. */
  waiting: number
  /** Tasks that were claimed and have not ended, also those whose attempt was lost. */
  running: number
  /** The tenants that have most waiting, the first `ledgerLimits.tenantsNamedMax`. */
  waitingByTenant: { tenantKey: string; waiting: number }[]
  oldestWaitingMs: number | null
  pendingDeliveries: number
  oldestDeliveryMs: number | null
  /** Prepared or dispatched, of both halves. */
  effectsInFlight: number
  effectsUnknown: number
}

/** Tasks that run, or wait and come first: in the task's lane, and in its repository with all its lanes. */
export type RunsAhead = { lane: number; repository: number }
