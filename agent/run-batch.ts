import type { Payload, ToolCall } from '../domain/index.ts'
import type { SessionContext } from './context.ts'
import type { FoldedTurn } from './fold-session.ts'
import { type GateOutcome, judgeCall } from './gate/gate.ts'
import { orderBatch } from './order-batch.ts'
import { readable, runCall, type Settled, settleRefused, settleRemembered, startedEvent } from './run-call.ts'
import type { ParsedCall } from './tools/parse-call.ts'

export type BatchResult = { kind: 'settled'; results: readonly Settled[] } | { kind: 'left' }

/** One call of the batch that may run. */
export type ReadyCall = {
  index: number
  id: string
  call: ParsedCall
  decision: Payload<'tool.started'>['decision']
  notes: readonly string[]
}

/**
 * Every call of one answer gets exactly one result, in the model's order: judged one after another, then run together as
 * far as they do not touch the same files, each result recorded before the model may see it.
 */
export async function runBatch(session: SessionContext, turn: number, calls: readonly ToolCall[]): Promise<BatchResult> {
  const recorded = session.folded.turns.get(turn)
  const results: (Settled | null)[] = []
  const ready: ReadyCall[] = []
  for (const [index, raw] of calls.entries()) {
    const prepared = await prepare(session, turn, index, raw, recorded)
    if (prepared.kind === 'left') return prepared
    results.push(prepared.kind === 'settled' ? prepared.result : null)
    if (prepared.kind === 'ready') ready.push(prepared.ready)
  }
  const started = ready.length === 0 ? 'started' : await start(session, turn, ready, recorded)
  if (started === 'left') return { kind: 'left' }
  const ran =
    started === 'stopped'
      ? await Promise.all(ready.map(entry => cancelCall(session, turn, calls[entry.index] as ToolCall, entry.call)))
      : await orderBatch(ready, entry => runCall(session, turn, entry))
  for (const [position, entry] of ready.entries()) {
    const result = ran[position]
    if (!result) return { kind: 'left' }
    results[entry.index] = result
  }
  const ranCommand = ready.some(entry => entry.call.tool.kind === 'execute')
  const wrote = ready.some(entry => !entry.call.tool.readOnly)
  if (started === 'started' && (ranCommand || (wrote && session.snapshots.owed()))) session.snapshots.begin(turn)
  return { kind: 'settled', results: results as Settled[] }
}

type Prepared = { kind: 'settled'; result: Settled } | { kind: 'ready'; ready: ReadyCall } | { kind: 'left' }

async function prepare(
  session: SessionContext,
  turn: number,
  index: number,
  raw: ToolCall,
  recorded: FoldedTurn | undefined,
): Promise<Prepared> {
  const known = recorded?.settled.get(raw.id)
  if (known) return { kind: 'settled', result: await settleRemembered(session, raw, known) }
  const begun = recorded?.started.get(raw.id)
  const settled = async (result: Promise<Settled | null>): Promise<Prepared> => {
    const value = await result
    return value ? { kind: 'settled', result: value } : { kind: 'left' }
  }
  if (begun && !begun.readOnly) return settled(settleRefused(session, turn, raw, 'interrupted', begun.decision, interruptedText(session)))
  const reason = session.stop.reason()
  if (reason === 'fenced' || reason === 'hand-over') return { kind: 'left' }
  if (reason !== null) return settled(cancelCall(session, turn, raw, null))
  if (index >= session.limits.callsPerTurnMax) {
    const decision = {
      kind: 'deny' as const,
      rule: 'calls-per-turn',
      reason: `one answer may make ${session.limits.callsPerTurnMax} calls`,
    }
    return settled(
      settleRefused(session, turn, raw, 'denied', decision, `Not executed: ${decision.reason}. Make it again in your next answer.`),
    )
  }
  // What was decided and recorded stands, whatever the tables say by now: a read that was cut off is simply made again.
  const again = begun ? readable(session, raw) : null
  if (begun && again) return { kind: 'ready', ready: { index, id: raw.id, call: again, decision: begun.decision, notes: again.notes } }
  const judged = await session.stop.race(judge(session, raw))
  if (judged === null) return prepare(session, turn, index, raw, recorded)
  if (judged.kind === 'refused') return settled(settleRefused(session, turn, raw, judged.status, judged.decision, judged.text, judged.call))
  return { kind: 'ready', ready: { index, id: raw.id, call: judged.call, decision: judged.decision, notes: judged.notes } }
}

function judge(session: SessionContext, raw: ToolCall): Promise<GateOutcome> {
  return judgeCall(raw, {
    tools: session.tools,
    grant: session.grant,
    tables: session.tables,
    hooks: session.ports.hooks ?? [],
    killSwitch: session.ports.killSwitch,
    now: session.ports.now,
    limits: session.limits,
    signal: session.stop.signal,
  })
}

function cancelCall(session: SessionContext, turn: number, raw: ToolCall, call: ParsedCall | null): Promise<Settled | null> {
  const reason = session.stop.reason() ?? 'cancelled'
  const decision = { kind: 'deny' as const, rule: `stop:${reason}`, reason: 'the session is being stopped' }
  return settleRefused(session, turn, raw, 'cancelled', decision, 'Not executed: the session is being stopped.', call)
}

/** Records the starts of all calls in one go; a batch that can write first waits until the tree before it is fixed. */
async function start(
  session: SessionContext,
  turn: number,
  ready: readonly ReadyCall[],
  recorded: FoldedTurn | undefined,
): Promise<'started' | 'stopped' | 'left'> {
  if (ready.some(entry => !entry.call.tool.readOnly)) {
    const fixed = await session.stop.race(session.snapshots.settled())
    if (fixed === null) return session.stop.reason() === 'fenced' || session.stop.reason() === 'hand-over' ? 'left' : 'stopped'
    if (!fixed) return 'left'
  }
  const fresh = ready.filter(entry => !recorded?.started.has(entry.id))
  if (fresh.length === 0) return 'started'
  return (await session.journal.append(...fresh.map(entry => startedEvent(turn, entry)))) ? 'started' : 'left'
}

function interruptedText(session: SessionContext): string {
  return `Interrupted: the process that ran this call died before its result was recorded. The files were restored to snapshot ${session.snapshots.count()}, so nothing of it is left. Run it again if it is still needed.`
}
