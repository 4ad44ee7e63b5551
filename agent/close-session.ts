import { redact } from '../telemetry/index.ts'
import { clip } from './clip.ts'
import type { SessionContext } from './context.ts'
import type { End } from './run-session.ts'
import type { SessionResult } from './session.ts'

/**
 * Writes the session's last event. The last tree is waited for first, so that nothing a command did is lost between here
 * and the collection of the change; a stop waits only as long as it may.
 */
export async function closeSession(session: SessionContext, found: End): Promise<SessionResult> {
  // The whole answer is in its own event; what every text about the task is made of is no longer than people read.
  const end = { ...found, text: clip(redact(found.text), session.limits.endTextBytesMax) }
  const hurried = session.stop.reason() !== null
  const fixed = hurried ? await within(session.snapshots.settled(), session.limits.snapshotGraceMs) : await session.snapshots.settled()
  if (!fixed || !(await session.journal.append({ type: 'session.ended', commandId: 'session:end', payload: end })))
    return leftResult(session)
  return endedResult(session, end)
}

export function endedResult(session: SessionContext, end: End): SessionResult {
  const usage = session.budget.used()
  session.progress({
    kind: 'ended',
    reason: end.reason,
    turns: end.turns,
    tokens: usage.inputTokens + usage.outputTokens,
    costMicroUsd: usage.costMicroUsd,
  })
  return { kind: 'ended', ...end, usage, tainted: session.taints.all() }
}

export function leftResult(session: SessionContext): SessionResult {
  return session.stop.reason() === 'hand-over' ? { kind: 'handed-over' } : { kind: 'fenced' }
}

/** True as well when the time is over: the work is then at most one batch behind. */
async function within(settled: Promise<boolean>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, true)
  try {
    return await Promise.race([settled, promise])
  } finally {
    clearTimeout(timer)
  }
}
