import { findTask } from './read-events.ts'
import { type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

/** Only the newest state is kept. An erased or unknown task keeps none: a late writer must not bring its words back. */
export function* saveSnapshot(taskId: string, seq: number, state: Uint8Array): Program<void> {
  const task = yield* findTask(taskId)
  if (task !== null && task.erasedAt === null) yield* putSnapshot({ task: task.number, seq, state })
}

export function* loadSnapshot(taskId: string): Program<{ seq: number; state: Uint8Array } | null> {
  const [found] = yield* selectSnapshot({ taskId })
  return found ?? null
}

const putSnapshot = statement<Row<'snapshots'>>((database, argument) =>
  database
    .insertInto('snapshots')
    .values({ task: argument('task'), seq: argument('seq'), state: argument('state') })
    .onConflict(conflict =>
      conflict
        .column('task')
        .doUpdateSet({ seq: argument('seq'), state: argument('state') })
        .where('snapshots.seq', '<', argument('seq')),
    ),
)

const selectSnapshot = statement<{ taskId: string }, { seq: number; state: Uint8Array }>((database, argument) =>
  database
    .selectFrom('snapshots')
    .innerJoin('tasks', 'tasks.number', 'snapshots.task')
    .select(['seq', 'snapshots.state'])
    .where('taskId', '=', argument('taskId')),
)
