import { setImmediate } from 'node:timers/promises'
import { eventSchemas, migrateEvent, type RecordedEvent } from '../domain/index.ts'
import type { LedgerRecord } from './ledger.ts'
import { assertLedger, LedgerAssertion } from './ledger-assertion.ts'
import type { LedgerContext } from './ledger-context.ts'
import { findChainEnd } from './record-events.ts'
import { type Database, hidden, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

type TaskKey = { number: number; taskId: string; erasedAt: number | null }
type EntryRow = Omit<Row<'events'>, 'task' | 'blob'> & { salt: Uint8Array | null; bytes: number | null; payload: Uint8Array | null }

/** Runs a program in a transaction of its own. */
type Read = <Result>(program: () => Program<Result>) => Result | Promise<Result>
type Reading<Entry> = { taskId: string; afterSeq: number; limit: number; entryOf(row: EntryRow, payload: Uint8Array | null): Entry }

/** At most `limit` events; none: there is no such task, or nothing comes after that seq. */
export function readEvents(read: Read, context: LedgerContext, taskId: string, afterSeq: number, limit: number): Promise<RecordedEvent[]> {
  return readTwice(read, context, { taskId, afterSeq, limit, entryOf: recordedEvent })
}

export async function readRecord(read: Read, context: LedgerContext, taskId: string): Promise<LedgerRecord> {
  const entryOf = (row: EntryRow, payload: Uint8Array | null) => recordEntry(taskId, row, payload)
  const entries = await readTwice(read, context, { taskId, afterSeq: 0, limit: Number.POSITIVE_INFINITY, entryOf })
  assertLedger(entries.length > 0, 'there is no such task', { taskId })
  return { taskId, entries }
}

/** What was erased meanwhile is seen by the second look as wholly erased. */
async function readTwice<Entry>(read: Read, context: LedgerContext, reading: Reading<Entry>): Promise<Entry[]> {
  try {
    return await readInPages(read, context, reading)
  } catch (cause) {
    if (!(cause instanceof PayloadMissing)) throw cause
    return await readInPages(read, context, reading)
  }
}

/**
 * Others have their turn between two pages and after many bytes: the thread that reads a long task renews leases too. What
 * is appended after the first page is not read, so that reading ends however quickly others write.
 */
async function readInPages<Entry>(read: Read, context: LedgerContext, { taskId, limit, ...reading }: Reading<Entry>): Promise<Entry[]> {
  const { pageEventsMax, pageBytesMax } = context.limits
  const entries: Entry[] = []
  let { afterSeq } = reading
  let untilSeq = afterSeq + limit
  let bytes = 0
  let known: TaskKey | null = null
  while (afterSeq < untilSeq) {
    if (afterSeq > reading.afterSeq) await setImmediate()
    const { task, rows, lastSeq } = await read(() => readPage(taskId, afterSeq, Math.min(untilSeq - afterSeq, pageEventsMax)))
    if (task === null) break
    known ??= task
    if (task.erasedAt !== known.erasedAt) throw new PayloadMissing(taskId, afterSeq)
    for (const row of rows) {
      if (bytes > pageBytesMax) bytes = await setImmediate(0)
      entries.push(reading.entryOf(row, payloadOf(context, task, row)))
      bytes += row.bytes ?? 0
    }
    untilSeq = Math.min(untilSeq, lastSeq)
    afterSeq += rows.length
  }
  return entries
}

type Page = { task: TaskKey | null; rows: EntryRow[]; lastSeq: number }

function* readPage(taskId: string, afterSeq: number, limit: number): Program<Page> {
  const task = yield* findTask(taskId)
  if (task === null) return { task, rows: [], lastSeq: 0 }
  const rows = yield* selectEntries({ task: task.number, afterSeq, limit })
  const lastSeq = rows.length < limit ? afterSeq + rows.length : (yield* findChainEnd(task)).lastSeq
  return { task, rows, lastSeq }
}

function recordEntry(taskId: string, row: EntryRow, payload: Uint8Array | null): LedgerRecord['entries'][number] {
  const { seq, type, version, commandId, actor, attempt, at } = row
  const hashes = { payloadHash: hex(row.payloadHash), hash: hex(row.hash) }
  return { header: { task: taskId, seq, type, version, commandId, actor, attempt, at, ...hashes }, salt: row.salt, payload }
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

const selectEntries = statement<{ task: number; afterSeq: number; limit: number }, EntryRow>((database, argument) =>
  entries(database)
    .where('events.task', '=', hidden(argument('task')))
    .where('events.seq', '>', hidden(argument('afterSeq')))
    .orderBy('events.seq')
    .limit(hidden(argument('limit'))),
)

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
  if (bytes === null) throw new PayloadMissing(taskId, row.seq)
  assertLedger(bytes.byteLength === row.bytes, 'a payload has not the length it was written with', { taskId, seq: row.seq })
  return bytes
}

/** Either another process erases the task in this moment, or the file of a payload is lost: reading again tells. */
export class PayloadMissing extends LedgerAssertion {
  override name = 'PayloadMissing'
  constructor(taskId: string, seq: number) {
    super('a payload is missing', { taskId, seq })
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
