import type { Payload } from '../domain/index.ts'
import { askModel } from './ask-model.ts'
import { budgetFault } from './budget.ts'
import { closeSession, endedResult, leftResult } from './close-session.ts'
import type { SessionContext } from './context.ts'
import { lossNote, repetitionNote } from './notes.ts'
import { openSession } from './open-session.ts'
import type { SessionPorts } from './ports.ts'
import { openRepetitionGuard } from './repetition.ts'
import { resumeWorkspace } from './resume-workspace.ts'
import { runBatch } from './run-batch.ts'
import type { EndReason, SessionResult, SessionStart } from './session.ts'
import { conversationArguments } from './tools/read-arguments.ts'

/**
 * One conversation of a model with its tools. With the recorded events of an earlier attempt it goes on exactly where that
 * one stopped: what was recorded is consumed, never asked and never run again.
 */
export async function runSession(start: SessionStart, ports: SessionPorts): Promise<SessionResult> {
  const fault = budgetFault(start.limits, start.model)
  if (fault) return { kind: 'config-error', ...fault }
  const session = await openSession(start, ports)
  try {
    if (!(await session.begin())) return leftResult(session)
    const { ended, collected } = session.folded
    if (ended && collected) return endedResult(session, ended)
    await resumeWorkspace(session)
    if (ended) return endedResult(session, ended)
    const end = await runTurns(session, start.limits.turnsMax)
    return end ? await closeSession(session, end) : leftResult(session)
  } finally {
    session.stop.close()
    session.sampler.close()
  }
}

export type End = { reason: EndReason; text: string; turns: number }

/** Null: fenced or handed over. */
async function runTurns(session: SessionContext, turnsMax: number): Promise<End | null> {
  const guard = openRepetitionGuard(session.tools)
  let text = ''
  for (let turn = 1; ; turn++) {
    const step = await askModel(session, turn)
    if (step.kind === 'left') return null
    if (step.kind === 'end') return { reason: step.reason, text: step.text || text, turns: turn - 1 }
    const { answer } = step
    text = answer.text || text
    addAnswer(session, answer)
    if (answer.toolCalls.length === 0) return { ...endOfAnswer(answer, text), turns: turn }
    const batch = await runBatch(session, turn, answer.toolCalls)
    if (batch.kind === 'left') return null
    for (const result of batch.results) session.chat.addResult(result.callId, result.text)
    const repeated = guard.observe(answer.toolCalls)
    if (repeated === 'stop') return { reason: 'repetition', text, turns: turn }
    if (turn >= turnsMax) return { reason: 'turns', text, turns: turn }
    const loss = session.folded.losses.get(turn)
    if (loss) session.chat.addNote(lossNote(loss))
    if (repeated === 'nudge') session.chat.addNote(repetitionNote())
  }
}

function endOfAnswer(answer: Payload<'model.answered'>, text: string): { reason: EndReason; text: string } {
  const refused = answer.finishReason === 'refusal' || (answer.finishReason === 'content_filter' && answer.text === '')
  return refused ? { reason: 'refused', text: answer.text || 'The model refused the request.' } : { reason: 'answer', text }
}

function addAnswer(session: SessionContext, answer: Payload<'model.answered'>): void {
  const calls = answer.toolCalls.map(call => {
    const tool = session.tools.get(call.name)
    session.callIds.add(call.id)
    return { ...call, arguments: conversationArguments(call.arguments, value => tool?.parse(value).kind === 'fits') }
  })
  session.chat.addAssistant(answer.text, calls)
}
