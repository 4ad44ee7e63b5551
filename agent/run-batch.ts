import type { Payload, ToolCall } from '../domain/index.ts'
import type { SessionContext } from './context.ts'
import type { FoldedTurn } from './fold-session.ts'
import { type GateOutcome, judgeCall } from './gate/gate.ts'
import { orderBatch } from './order-batch.ts'
import { runCall, type Settled, settleRefused, settleRemembered, startedEvent } from './run-call.ts'
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
  if (ready.length > 0 && !(await start(session, turn, ready, recorded))) return { kind: 'left' }
  const ran = await orderBatch(ready, entry => runCall(session, turn, entry))
  for (const [position, entry] of ready.entries()) {
    const result = ran[position]
    if (!result) return { kind: 'left' }
    results[entry.index] = result
  }
  if (ready.some(entry => entry.call.tool.kind === 'execute')) session.snapshots.begin(turn)
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
  if (reason !== null) {
    const decision = { kind: 'deny' as const, rule: `stop:${reason}`, reason: 'the session is being stopped' }
    return settled(settleRefused(session, turn, raw, 'cancelled', decision, 'Not executed: the session is being stopped.'))
  }
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
  const judged = await judge(session, raw)
  if (judged.kind === 'refused') return settled(settleRefused(session, turn, raw, judged.status, judged.decision, judged.text, judged.call))
  // The decision that was recorded stands, whatever the tables say by now.
  const decision = begun?.decision ?? judged.decision
  return { kind: 'ready', ready: { index, id: raw.id, call: judged.call, decision, notes: judged.notes } }
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

/** Records the starts of all calls in one go; a batch that can write first waits until the tree before it is fixed. */
async function start(
  session: SessionContext,
  turn: number,
  ready: readonly ReadyCall[],
  recorded: FoldedTurn | undefined,
): Promise<boolean> {
  if (ready.some(entry => !entry.call.tool.readOnly) && !(await session.snapshots.settled())) return false
  const fresh = ready.filter(entry => !recorded?.started.has(entry.id))
  if (fresh.length === 0) return true
  return session.journal.append(...fresh.map(entry => startedEvent(turn, entry)))
}

function interruptedText(session: SessionContext): string {
  return `Interrupted: the process that ran this call died before its result was recorded. The files were restored to snapshot ${session.snapshots.count()}, so nothing of it is left. Run it again if it is still needed.`
}
