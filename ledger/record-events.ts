import { sql } from 'kysely'
import { type EventHeader, eventSchemas, eventVersion, hashEvent, hashPayload, type NewEvent, type RecordedEvent } from '../domain/index.ts'
import { addSpending, closeTask, markCancelled } from './close-task.ts'
import { applyEffectEvent } from './effect-rows.ts'
import { assertLedger, LedgerAssertion } from './ledger-assertion.ts'
import type { LedgerContext } from './ledger-context.ts'
import { hidden, type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

/** The end of a task's chain, where the next event goes. */
export type ChainEnd = { number: number; taskId: string; lastSeq: number; lastHash: string }

/**
 * Writes events behind the end of a chain together with everything that follows from them in other tables: effects rows,
 * the task's closing, its spending. The caller has checked that it may.
 */
export function* recordEvents(
  context: LedgerContext,
  end: ChainEnd,
  by: { actor: string; attempt: number; at: number },
  events: readonly NewEvent[],
): Program<RecordedEvent[]> {
  let { lastSeq, lastHash } = end
  const recorded: RecordedEvent[] = []
  for (const event of events) {
    lastSeq += 1
    const written = yield* recordEvent(context, end, by, event, { seq: lastSeq, previous: lastHash })
    recorded.push(written)
    lastHash = written.hash
    if (event.type === 'effect.prepared' || event.type === 'effect.dispatched' || event.type === 'effect.settled') {
      yield* applyEffectEvent(end.number, by, lastSeq, event)
    }
    if (event.type === 'model.answered' || event.type === 'model.failed') yield* addSpending(end.number, event.payload.usage)
    if (event.type === 'cancel.requested') yield* markCancelled({ task: end.number, at: by.at })
    if (event.type === 'task.ended') yield* closeTask(end.number, by.at, event.payload.outcome)
  }
  return recorded
}

function* recordEvent(
  { salt: freshSalt, files, limits }: LedgerContext,
  { number: task, taskId }: ChainEnd,
  { actor, attempt, at }: { actor: string; attempt: number; at: number },
  { type, commandId, payload }: NewEvent,
  { seq, previous }: { seq: number; previous: string },
): Program<RecordedEvent> {
  const parsed = parsePayload(type, payload)
  const bytes = Buffer.from(JSON.stringify(parsed), 'utf8')
  const salt = freshSalt()
  const payloadHash = hashPayload(salt, bytes)
  const header: EventHeader = { task: taskId, seq, type, version: eventVersion, commandId, actor, attempt, at, payloadHash }
  const hash = hashEvent(previous, header)
  const isFile = bytes.byteLength > limits.inlinePayloadBytesMax
  if (isFile) files.write(taskId, payloadHash, bytes)
  const hashes = { payloadHash: Buffer.from(payloadHash, 'hex'), hash: Buffer.from(hash, 'hex') }
  const [blob] = yield* insertBlob({ salt, bytes: bytes.byteLength, payload: isFile ? null : bytes })
  assertLedger(blob !== undefined, 'a payload was not inserted', { taskId, seq })
  yield* insertEvent({ task, seq, type, version: eventVersion, commandId, actor, attempt, at, ...hashes, blob: blob.number })
  return { type, seq, version: eventVersion, commandId, actor, attempt, at, hash, payload: parsed } as RecordedEvent
}

/** Its JSON text is what is hashed, stored and later shown in a bundle. Fields that the schema does not name are not kept. */
function parsePayload(type: NewEvent['type'], payload: NewEvent['payload']): NewEvent['payload'] {
  const parsed = eventSchemas[type].safeParse(payload)
  if (!parsed.success) throw new LedgerAssertion('an event payload does not fit its schema', { type, issues: parsed.error.issues })
  return parsed.data
}

export function* findChainEnd({ number, taskId }: { number: number; taskId: string }): Program<ChainEnd> {
  const [last] = yield* selectLast({ task: number })
  assertLedger(last !== undefined, 'a task has events', { taskId })
  return { number, taskId, lastSeq: last.seq, lastHash: Buffer.from(last.hash).toString('hex') }
}

const selectLast = statement<{ task: number }, { seq: number; hash: Uint8Array }>((database, argument) =>
  database
    .selectFrom('events')
    .select(['seq', 'hash'])
    .where('task', '=', hidden(argument('task')))
    .orderBy('seq', 'desc')
    .limit(sql.lit(1)),
)

const insertEvent = statement<Row<'events'>>((database, argument) =>
  database.insertInto('events').values({
    task: argument('task'),
    seq: argument('seq'),
    type: argument('type'),
    version: argument('version'),
    commandId: argument('commandId'),
    actor: argument('actor'),
    attempt: argument('attempt'),
    at: argument('at'),
    payloadHash: argument('payloadHash'),
    hash: argument('hash'),
    blob: argument('blob'),
  }),
)

const insertBlob = statement<Omit<Row<'blobs'>, 'number'>, { number: number }>((database, argument) =>
  database
    .insertInto('blobs')
    .values({ salt: argument('salt'), bytes: argument('bytes'), payload: argument('payload') })
    .returning('number'),
)
