import { firstPrevious, type NewEvent } from '../domain/index.ts'
import { findShortage, reserveBudgets } from './budgets.ts'
import type { AcceptResult, NewTask } from './ledger.ts'
import { assertLedger } from './ledger-assertion.ts'
import type { LedgerContext } from './ledger-context.ts'
import type { LedgerLimits } from './limits.ts'
import { assertFolderName } from './payload-files.ts'
import { recordEvents } from './record-events.ts'
import { type Program, statement } from './statement.ts'
import { supersede } from './supersede.ts'

/** Task, first events and reservations, all or none; a meaning that is known already changes nothing. */
export function* acceptTask(context: LedgerContext, task: NewTask): Program<AcceptResult> {
  const { taskId, meaningKey, actor, acceptedAt, first, more, budgets } = task
  const [known] = yield* selectByMeaning({ meaningKey })
  if (known !== undefined) return { kind: 'known', taskId: known.taskId }
  const shortage = yield* findShortage(budgets)
  if (shortage !== null) return { kind: 'over-budget', ...shortage }
  assertFolderName(taskId)
  const firstEvent: NewEvent = { ...first, commandId: task.commandId }
  assertLedger(!more.some(({ type }) => type === firstEvent.type), 'a task is accepted once', { taskId })
  assertPriority(task, context.limits)
  yield* supersede(context, task)
  const [row] = yield* insertTask(rowOf(task))
  assertLedger(row !== undefined, 'a task was not inserted', { taskId })
  yield* reserveBudgets(row.number, budgets)
  const end = { number: row.number, taskId, lastSeq: 0, lastHash: firstPrevious(taskId) }
  yield* recordEvents(context, end, { actor, attempt: 0, at: acceptedAt }, [firstEvent, ...more])
  return { kind: 'accepted', taskId }
}

function assertPriority({ taskId, priority }: NewTask, { priorityMax }: LedgerLimits): void {
  assertLedger(Number.isInteger(priority) && priority >= 0 && priority <= priorityMax, 'there is no such priority', { taskId, priority })
}

const selectByMeaning = statement<{ meaningKey: string }, { taskId: string }>((database, argument) =>
  database.selectFrom('tasks').select('taskId').where('meaningKey', '=', argument('meaningKey')),
)

type NewRow = ReturnType<typeof rowOf>

function rowOf({ taskId, meaningKey, laneKey, tenantKey, priority, needsWorker, actor, acceptedAt, first, deliveryId }: NewTask) {
  const { repository, command } = first.payload
  return {
    taskId,
    meaningKey,
    laneKey,
    tenantKey,
    priority,
    needsWorker: needsWorker ? (1 as const) : (0 as const),
    verb: command.verb,
    repository: `${repository.owner}/${repository.name}`,
    actor,
    deliveryId: deliveryId ?? null,
    acceptedAt,
    // A refusal is answered at once; it has no deadline of its own.
    deadlineAt: first.type === 'task.accepted' ? first.payload.deadlineAt : acceptedAt,
  }
}

const insertTask = statement<NewRow, { number: number }>((database, argument) =>
  database
    .insertInto('tasks')
    .values({
      taskId: argument('taskId'),
      meaningKey: argument('meaningKey'),
      laneKey: argument('laneKey'),
      tenantKey: argument('tenantKey'),
      priority: argument('priority'),
      needsWorker: argument('needsWorker'),
      state: 'waiting',
      verb: argument('verb'),
      repository: argument('repository'),
      actor: argument('actor'),
      deliveryId: argument('deliveryId'),
      acceptedAt: argument('acceptedAt'),
      deadlineAt: argument('deadlineAt'),
      endedAt: null,
      outcome: null,
      attempts: 0,
      owner: null,
      leaseUntil: 0,
      recoveries: 0,
      spentMicroUsd: 0,
      erasedAt: null,
      erasedBy: null,
      erasing: 0,
      cancelRequestedAt: null,
    })
    .returning('number'),
)
