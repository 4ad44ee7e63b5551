import type { Payload, RecordedEvent } from '../domain/index.ts'

/**
 * What the recorded events say of a session: a pure function, so that every attempt reads the same from the same rows.
 * Events of other parts of the task are passed over.
 */
export type FoldedSession = {
  started: { payload: Payload<'session.started'>; at: number } | null
  /** By turn number, from 1. */
  turns: ReadonlyMap<number, FoldedTurn>
  snapshots: readonly Payload<'snapshot.taken'>[]
  taints: readonly Payload<'taint.raised'>[]
  ended: Payload<'session.ended'> | null
  /** The change was already taken from the work tree: nobody needs it again. */
  collected: boolean
  /** File edits to make again on the restored tree, in the order they were made. */
  replays: readonly SettledCall[]
  /** After which turn the model must be told what an interruption lost. */
  losses: ReadonlyMap<number, Loss>
}

export type FoldedTurn = {
  /** Requests without an answer or a failure of their own, each held to have cost its reservation. */
  openRequests: Payload<'model.requested'>[]
  answer: Payload<'model.answered'> | null
  failure: Payload<'model.failed'> | null
  started: Map<string, Payload<'tool.started'>>
  settled: Map<string, SettledCall>
}

export type SettledCall = Payload<'tool.settled'>

/**
 * `snapshot`: how many snapshots there were, 0 = none. `calls`: whose effects on files are gone. `unrepeatable`: file edits that
 * gave other bytes when they were made again, and those after them.
 */
export type Loss = { snapshot: number; calls: readonly SettledCall[]; unrepeatable?: readonly SettledCall[] }

class ErasedSession extends Error {
  override name = 'ErasedSession'
}

export function foldSession(events: readonly RecordedEvent[]): FoldedSession {
  const fold = emptyFold()
  let attempt: number | null = null
  for (const event of events) {
    if (event.type === 'change.collected') fold.collected = true
    if (!isOfSession(event)) continue
    if (event.payload === null) throw new ErasedSession(`event ${event.seq} (${event.type}) was erased: this session can not go on`)
    if (attempt !== null && attempt !== event.attempt) interrupt(fold)
    attempt = event.attempt
    take(fold, event)
  }
  // Whoever folds is about to go on where somebody else stopped.
  if (fold.started && !fold.collected) interrupt(fold)
  return { ...fold, replays: fold.sinceSnapshot.filter(call => !fold.gone.has(call) && call.edits.length > 0) }
}

type Fold = {
  started: FoldedSession['started']
  turns: Map<number, FoldedTurn>
  snapshots: Payload<'snapshot.taken'>[]
  taints: Payload<'taint.raised'>[]
  ended: FoldedSession['ended']
  collected: boolean
  losses: Map<number, Loss>
  /** Settled calls that changed or may have changed files after the last snapshot, in order. */
  sinceSnapshot: SettledCall[]
  gone: Set<SettledCall>
  commandsRan: boolean
}

function emptyFold(): Fold {
  return {
    started: null,
    turns: new Map(),
    snapshots: [],
    taints: [],
    ended: null,
    collected: false,
    losses: new Map(),
    sinceSnapshot: [],
    gone: new Set(),
    commandsRan: false,
  }
}

const sessionTypes = [
  'session.started',
  'model.requested',
  'model.answered',
  'model.failed',
  'tool.started',
  'tool.settled',
  'taint.raised',
  'snapshot.taken',
  'session.ended',
] as const

type SessionEvent = Extract<RecordedEvent, { type: (typeof sessionTypes)[number] }>

function isOfSession(event: RecordedEvent): event is SessionEvent {
  return (sessionTypes as readonly string[]).includes(event.type)
}

type Present<E> = E extends { payload: infer P } ? Omit<E, 'payload'> & { payload: NonNullable<P> } : never

function take(fold: Fold, event: SessionEvent): void {
  const row = event as Present<SessionEvent>
  switch (row.type) {
    case 'session.started':
      fold.started = { payload: row.payload, at: row.at }
      return
    case 'model.requested':
      turnOf(fold, row.payload.turn).openRequests.push(row.payload)
      return
    case 'model.answered':
    case 'model.failed': {
      const turn = turnOf(fold, row.payload.turn)
      turn.openRequests.pop()
      if (row.type === 'model.answered') turn.answer = row.payload
      else turn.failure = row.payload
      return
    }
    case 'tool.started':
      turnOf(fold, row.payload.turn).started.set(row.payload.callId, row.payload)
      return
    case 'tool.settled':
      turnOf(fold, row.payload.turn).settled.set(row.payload.callId, row.payload)
      if (ranCommand(row.payload)) fold.commandsRan = true
      if (ranCommand(row.payload) || row.payload.edits.length > 0) fold.sinceSnapshot.push(row.payload)
      return
    case 'taint.raised':
      fold.taints.push(row.payload)
      return
    case 'snapshot.taken':
      if (row.payload.lost) forget(fold, row.payload.lost)
      fold.snapshots.push(row.payload)
      fold.sinceSnapshot = fold.sinceSnapshot.filter(call => call.turn > row.payload.turn)
      return
    case 'session.ended':
      fold.ended = row.payload
  }
}

/** An earlier attempt could not make these edits again and fixed the tree without them: nobody tries once more. */
function forget(fold: Fold, lost: readonly string[]): void {
  const unrepeatable = fold.sinceSnapshot.filter(call => lost.includes(call.callId))
  fold.losses = withUnrepeatable(fold.losses, { after: lastAnswered(fold), snapshot: fold.snapshots.length, unrepeatable })
  fold.sinceSnapshot = []
}

type Unrepeatable = { after: number; snapshot: number; unrepeatable: readonly SettledCall[] }

/** The losses with edits that could not be made again; the same whether an attempt just found that out or reads it. */
export function withUnrepeatable(losses: ReadonlyMap<number, Loss>, { after, snapshot, unrepeatable }: Unrepeatable): Map<number, Loss> {
  const earlier = losses.get(after) ?? { snapshot, calls: [] }
  return new Map(losses).set(after, { ...earlier, unrepeatable: [...(earlier.unrepeatable ?? []), ...unrepeatable] })
}

/** The turn after which the model is told; 0 = it has not answered yet. */
export function lastAnswered({ turns }: Pick<FoldedSession, 'turns'>): number {
  return Math.max(0, ...[...turns].filter(([, turn]) => turn.answer).map(([number]) => number))
}

function turnOf(fold: Fold, number: number): FoldedTurn {
  const known = fold.turns.get(number)
  if (known) return known
  const turn: FoldedTurn = { openRequests: [], answer: null, failure: null, started: new Map(), settled: new Map() }
  fold.turns.set(number, turn)
  return turn
}

function ranCommand(call: SettledCall): boolean {
  return call.kind === 'execute' && (call.status === 'ok' || call.status === 'error' || call.status === 'cancelled')
}

/**
 * An attempt ended here. Edits can be made again on the last snapshot, commands can not: the first command after it, and
 * whatever was done on top of that, is gone. All of it is in the one batch before the crash, as the next batch that writes
 * waits for the snapshot.
 */
function interrupt(fold: Fold): void {
  const after = lastAnswered(fold)
  if (after === 0 || !fold.commandsRan) return
  const standing = fold.sinceSnapshot.filter(call => !fold.gone.has(call))
  const first = standing.findIndex(ranCommand)
  const gone = first < 0 ? [] : standing.slice(first)
  for (const call of gone) fold.gone.add(call)
  const earlier = fold.losses.get(after)
  fold.losses.set(after, { ...earlier, snapshot: fold.snapshots.length, calls: [...(earlier?.calls ?? []), ...gone] })
}
