import { sql } from 'kysely'
import { type Candidate, runningTasks, waitingTasks } from './candidates.ts'
import { firstInTurn, takeTurn } from './first-in-turn.ts'
import type { Claim, ClaimOptions } from './ledger.ts'
import { assertLedger } from './ledger-assertion.ts'
import { type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

/** A lost task before any that waits: its time to work is running. */
export function* claimNext(options: ClaimOptions): Program<Claim | null> {
  const candidate = (yield* firstLost(options)) ?? (yield* firstInTurn())
  return candidate === null ? null : yield* take(candidate, options)
}

function* firstLost({ now, deadOwners }: ClaimOptions): Program<Candidate | null> {
  const lost = [...(yield* firstExpired({ now }))]
  for (const owner of deadOwners) lost.push(...(yield* firstOfOwner({ owner })))
  const [first] = lost.sort((a, b) => a.priority - b.priority || a.number - b.number)
  return first ?? null
}

/** One named task, under the same rules. Null: it does not exist, is over, is being worked on, or its lane is busy. */
export function* claimTask(taskId: string, options: ClaimOptions): Program<Claim | null> {
  const [waiting] = yield* waitingTask({ taskId })
  if (waiting !== undefined) return yield* take(waiting, options)
  const [running] = yield* runningTask({ taskId })
  if (running === undefined) return null
  const lost = running.leaseUntil <= options.now || options.deadOwners.includes(running.owner ?? '')
  return lost ? yield* take(running, options) : null
}

/** Inserts attempt n + 1 in the transaction that read n. Whoever held attempt n is fenced from here on. */
function* take(candidate: Candidate, { owner, now, leaseUntil, recoveriesMax }: ClaimOptions): Program<Claim> {
  const { number: task, taskId, attempts } = candidate
  const attempt = attempts + 1
  const [last] = attempts === 0 ? [] : yield* selectAttempt({ task, attempt: attempts })
  assertLedger(attempts === 0 || last !== undefined, 'every attempt has its row', { taskId, attempts })
  // Handing back in good order is no recovery: any number of restarts is fine, a task that kills its worker is not.
  const lost = last !== undefined && last.releasedAt === null
  const recoveries = candidate.recoveries + (lost ? 1 : 0)
  const recovers = attempts === 0 ? null : attempts
  yield* insertAttempt({ task, number: attempt, owner, startedAt: now, leaseUntil, recovers })
  yield* updateClaimed({ task, attempt, owner, leaseUntil, recoveries })
  // Going on with a task is no new turn.
  if (attempts === 0) yield* takeTurn({ tenantKey: candidate.tenantKey })
  return { taskId, attempt, owner, leaseUntil, recovers, exhausted: recoveries > recoveriesMax }
}

const firstExpired = statement<{ now: number }, Candidate>((database, argument) =>
  runningTasks(database).where('leaseUntil', '<=', argument('now')).orderBy('priority').orderBy('number').limit(sql.lit(1)),
)

const firstOfOwner = statement<{ owner: string }, Candidate>((database, argument) =>
  runningTasks(database).where('owner', '=', argument('owner')).orderBy('priority').orderBy('number').limit(sql.lit(1)),
)

const waitingTask = statement<{ taskId: string }, Candidate>((database, argument) =>
  waitingTasks(database).where('taskId', '=', argument('taskId')),
)

const runningTask = statement<{ taskId: string }, Candidate>((database, argument) =>
  runningTasks(database).where('taskId', '=', argument('taskId')),
)

const selectAttempt = statement<{ task: number; attempt: number }, { releasedAt: number | null }>((database, argument) =>
  database.selectFrom('attempts').select('releasedAt').where('task', '=', argument('task')).where('number', '=', argument('attempt')),
)

type NewAttempt = Omit<Row<'attempts'>, 'releasedAt'>

const insertAttempt = statement<NewAttempt>((database, argument) =>
  database.insertInto('attempts').values({
    task: argument('task'),
    number: argument('number'),
    owner: argument('owner'),
    startedAt: argument('startedAt'),
    leaseUntil: argument('leaseUntil'),
    recovers: argument('recovers'),
    releasedAt: null,
  }),
)

type Claimed = { task: number; attempt: number; owner: string; leaseUntil: number; recoveries: number }

const updateClaimed = statement<Claimed>((database, argument) =>
  database
    .updateTable('tasks')
    .set({
      state: 'running',
      attempts: argument('attempt'),
      owner: argument('owner'),
      leaseUntil: argument('leaseUntil'),
      recoveries: argument('recoveries'),
    })
    .where('number', '=', argument('task')),
)
