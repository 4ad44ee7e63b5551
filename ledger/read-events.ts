import { eventSchemas, migrateEvent, type RecordedEvent } from '../domain/index.ts'
import type { LedgerRecord } from './ledger.ts'
import { assertLedger, LedgerAssertion } from './ledger-assertion.ts'
import type { LedgerContext } from './ledger-context.ts'
import { type Database, hidden, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

type TaskKey = { number: number; taskId: string; erasedAt: number | null }
type EntryRow = Omit<Row<'events'>, 'task' | 'blob'> & { salt: Uint8Array | null; bytes: number | null; payload: Uint8Array | null }

export function* readEvents(context: LedgerContext, taskId: string, afterSeq: number, limit?: number): Program<RecordedEvent[]> {
  const task = yield* findTask(taskId)
  if (task === null) return []
  const after = { task: task.number, afterSeq }
  const rows = yield* limit === undefined ? selectEntries(after) : selectFirstEntries({ ...after, limit })
  return rows.map(row => recordedEvent(row, payloadOf(context, task, row)))
}

export function* readRecord(context: LedgerContext, taskId: string): Program<LedgerRecord> {
  const task = yield* findTask(taskId)
  assertLedger(task !== null, 'there is no such task', { taskId })
  const rows = yield* selectEntries({ task: task.number, afterSeq: 0 })
  return {
    taskId,
    entries: rows.map(row => {
      const { seq, type, version, commandId, actor, attempt, at } = row
      const hashes = { payloadHash: hex(row.payloadHash), hash: hex(row.hash) }
      return {
        header: { task: taskId, seq, type, version, commandId, actor, attempt, at, ...hashes },
        salt: row.salt,
        payload: payloadOf(context, task, row),
      }
    }),
  }
}

/** The payload of one event as JSON, or null when it was erased. */
export function* readPayload(context: LedgerContext, task: TaskKey, seq: number): Program<RecordedEvent['payload']> {
  const [row] = yield* selectEntry({ task: task.number, seq })
  assertLedger(row !== undefined, 'an event is missing', { taskId: task.taskId, seq })
  return recordedEvent(row, payloadOf(context, task, row)).payload
}

export function* findTask(taskId: string): Program<TaskKey | null> {
  const [task] = yield* selectTaskKey({ taskId })
  return task ?? null
}

const selectTaskKey = statement<{ taskId: string }, TaskKey>((database, argument) =>
  database.selectFrom('tasks').select(['number', 'taskId', 'erasedAt']).where('taskId', '=', argument('taskId')),
)

const entries = (database: Database) =>
  database
    .selectFrom('events')
    .leftJoin('blobs', 'blobs.number', 'events.blob')
    .select(['events.seq', 'events.type', 'events.version', 'events.commandId', 'events.actor', 'events.attempt', 'events.at'])
    .select(['events.payloadHash', 'events.hash', 'blobs.salt', 'blobs.bytes', 'blobs.payload'])

const selectEntries = statement<{ task: number; afterSeq: number }, EntryRow>((database, argument) =>
  entriesAfter(database, argument('task'), argument('afterSeq')),
)

const selectFirstEntries = statement<{ task: number; afterSeq: number; limit: number }, EntryRow>((database, argument) =>
  entriesAfter(database, argument('task'), argument('afterSeq')).limit(argument('limit')),
)

const entriesAfter = (database: Database, task: number, afterSeq: number) =>
  entries(database).where('events.task', '=', hidden(task)).where('events.seq', '>', hidden(afterSeq)).orderBy('events.seq')

const selectEntry = statement<{ task: number; seq: number }, EntryRow>((database, argument) =>
  entries(database).where('events.task', '=', argument('task')).where('events.seq', '=', argument('seq')),
)

/** The stored bytes, from the row or its file; null only when the task was erased. */
function payloadOf({ files }: LedgerContext, { taskId, erasedAt }: TaskKey, row: EntryRow): Uint8Array | null {
  if (row.salt === null) {
    assertLedger(erasedAt !== null, 'a payload is missing and nobody erased it', { taskId, seq: row.seq })
    return null
  }
  const bytes = row.payload ?? files.read(taskId, hex(row.payloadHash))
  if (bytes === null) throw new PayloadFileMissing(taskId, row.seq)
  assertLedger(bytes.byteLength === row.bytes, 'a payload has not the length it was written with', { taskId, seq: row.seq })
  return bytes
}

/** Either another process erases the task in this moment, or the file is lost: reading again tells. */
export class PayloadFileMissing extends LedgerAssertion {
  override name = 'PayloadFileMissing'
  constructor(taskId: string, seq: number) {
    super('the file of a payload is missing', { taskId, seq })
  }
}

function recordedEvent(row: EntryRow, bytes: Uint8Array | null): RecordedEvent {
  const { seq, type, version, commandId, actor, attempt, at } = row
  const payload = bytes === null ? null : parsePayload(row, bytes)
  return { type, seq, version, commandId, actor, attempt, at, hash: hex(row.hash), payload } as RecordedEvent
}

function parsePayload({ seq, type, version }: EntryRow, bytes: Uint8Array): unknown {
  const lifted = migrateEvent({ type, version }, JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')))
  const parsed = eventSchemas[type as RecordedEvent['type']].safeParse(lifted)
  if (!parsed.success) throw new LedgerAssertion('a stored payload does not fit its schema', { seq, type, issues: parsed.error.issues })
  return parsed.data
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
