import { sql } from 'kysely'
import type { CommitGroup } from './commit-group.ts'
import { dropDeliveryBody } from './deliveries.ts'
import type { LedgerContext } from './ledger-context.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

type Eraser = { group: CommitGroup; connection: SqliteConnection; context: LedgerContext }
type ErasedTask = Pick<Row<'tasks'>, 'number' | 'taskId' | 'state' | 'deliveryId'>

/**
 * First the rows (`secure_delete` wipes their pages), then the files, then the write-ahead log, which still holds the old
 * pages. A crash in between leaves `erasing` set, and opening the ledger goes on from there.
 */
export function eraseTask(eraser: Eraser, taskId: string, by: string): 'erased' | 'open' | 'unknown' {
  const { group, context } = eraser
  const answer = group.writeAlone(() => eraseRows(taskId, by, context.clock()))
  if (answer === 'erased') eraseFiles(eraser, taskId)
  return answer
}

/** Erasings that a crash cut off. */
export function finishErasings(eraser: Eraser): void {
  for (const { taskId } of eraser.group.read(() => selectErasing({}))) eraseFiles(eraser, taskId)
}

function eraseFiles({ group, connection, context }: Eraser, taskId: string): void {
  context.files.erase(taskId)
  for (let tries = 1; !connection.emptyLog(); tries += 1) {
    if (tries < context.limits.eraseCheckpointsMax) continue
    throw new Error('the payloads are erased but the write-ahead log is being read and can not be emptied; ask again later')
  }
  group.writeAlone(() => setErasing({ taskId, erasing: 0 }))
}

function* eraseRows(taskId: string, by: string, at: number): Program<'erased' | 'open' | 'unknown'> {
  const [task] = yield* selectForErasing({ taskId })
  if (task === undefined) return 'unknown'
  if (task.state !== 'ended') return 'open'
  yield* deleteBlobs({ task: task.number })
  yield* wipeEffectKeys({ task: task.number })
  if (task.deliveryId !== null) yield* dropDeliveryBody({ id: task.deliveryId })
  yield* setErased({ task: task.number, at, by })
  yield* setErasing({ taskId, erasing: 1 })
  return 'erased'
}

const selectForErasing = statement<{ taskId: string }, ErasedTask>((database, argument) =>
  database.selectFrom('tasks').select(['number', 'taskId', 'state', 'deliveryId']).where('taskId', '=', argument('taskId')),
)

const deleteBlobs = statement<{ task: number }>((database, argument) =>
  database.deleteFrom('blobs').where('number', 'in', database.selectFrom('events').select('blob').where('task', '=', argument('task'))),
)

/** A key may hold words of the task, such as a branch's name. */
const wipeEffectKeys = statement<{ task: number }>((database, argument) =>
  database.updateTable('effects').set({ key: '' }).where('task', '=', argument('task')),
)

/** The first erasing is the one that counts. */
const setErased = statement<{ task: number; at: number; by: string }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ erasedAt: argument('at'), erasedBy: argument('by') })
    .where('number', '=', argument('task'))
    .where('erasedAt', 'is', null),
)

const setErasing = statement<{ taskId: string; erasing: 0 | 1 }>((database, argument) =>
  database
    .updateTable('tasks')
    .set({ erasing: argument('erasing') })
    .where('taskId', '=', argument('taskId')),
)

const selectErasing = statement<Record<string, never>, { taskId: string }>(database =>
  database.selectFrom('tasks').select('taskId').where('erasing', '=', sql.lit(1)),
)
