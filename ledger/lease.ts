import { sql } from 'kysely'
import type { Claim } from './ledger.ts'
import { type Program, statement } from './statement.ts'

type Held = Pick<Claim, 'taskId' | 'attempt'>

/** A lease that ran out may be renewed as long as nobody took over; one that was handed back may not. */
export function* renewLease({ taskId, attempt }: Held, leaseUntil: number): Program<boolean> {
  const [task] = yield* renewTask({ taskId, attempt, leaseUntil })
  if (task === undefined) return false
  yield* renewAttempt({ task: task.number, attempt, leaseUntil })
  return true
}

export function* holdsTask({ taskId, attempt }: Held, now: number): Program<boolean> {
  const [held] = yield* selectLease({ taskId, attempt })
  return held !== undefined && held.leaseUntil > now
}

/** Ends the lease for good, whatever the clocks say. Nothing happens when the attempt is not the newest any more. */
export function* releaseTask({ taskId, attempt }: Held, at: number): Program<void> {
  const [task] = yield* endLease({ taskId, attempt })
  if (task !== undefined) yield* releaseAttempt({ task: task.number, attempt, at })
}

/** Owners of attempts that nobody ended: those whose death matters. */
export const runningOwners = statement<Record<string, never>, { owner: string }>(database =>
  database
    .selectFrom('tasks')
    .select('owner')
    .distinct()
    .where('state', '=', sql.lit('running'))
    .where('leaseUntil', '>', released)
    .where('owner', 'is not', null)
    .orderBy('owner')
    .$narrowType<{ owner: string }>(),
)

/** A lease of this time was handed back. */
const released = 0

const selectLease = statement<Held, { leaseUntil: number }>((database, argument) =>
  database.selectFrom('tasks').select('leaseUntil').where('taskId', '=', argument('taskId')).where('attempts', '=', argument('attempt')),
)

const renewTask = statement<Held & { leaseUntil: number }, { number: number }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ leaseUntil: argument('leaseUntil') })
    .where('taskId', '=', argument('taskId'))
    .where('attempts', '=', argument('attempt'))
    .where('leaseUntil', '>', released)
    .returning('number'),
)

const renewAttempt = statement<{ task: number; attempt: number; leaseUntil: number }>((database, argument) =>
  database
    .updateTable('attempts')
    .set({ leaseUntil: argument('leaseUntil') })
    .where('task', '=', argument('task'))
    .where('number', '=', argument('attempt')),
)

const endLease = statement<Held, { number: number }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ leaseUntil: released })
    .where('taskId', '=', argument('taskId'))
    .where('attempts', '=', argument('attempt'))
    .returning('number'),
)

const releaseAttempt = statement<{ task: number; attempt: number; at: number }>((database, argument) =>
  database
    .updateTable('attempts')
    .set({ releasedAt: argument('at'), leaseUntil: released })
    .where('task', '=', argument('task'))
    .where('number', '=', argument('attempt')),
)
