import type { SessionContext } from './context.ts'
import { lastAnswered, type SettledCall, withUnrepeatable } from './fold-session.ts'
import type { FileFault, FileHost } from './ports.ts'
import { readable, toolContext } from './run-call.ts'
import { contentHash } from './tools/outcome.ts'

/**
 * Brings the work tree to where the record says it was: the last snapshot, then the file edits after it, made again by the
 * same calls. Each must give the very bytes it gave before. One that does not is lost, and so are those after it: a file
 * that a command wrote may come back from the snapshot with other bytes, where attributes let git convert it.
 */
export async function resumeWorkspace(session: SessionContext): Promise<void> {
  const { folded, ports } = session
  if (!touchedFiles(session)) return
  await ports.restore(folded.snapshots.at(-1)?.tree ?? null)
  const lost = await replayAll(session)
  if (lost.length > 0) await giveUp(session, lost)
  const all = [...session.folded.losses.values()].flatMap(loss => [...loss.calls, ...(loss.unrepeatable ?? [])])
  const turn = Math.max(0, ...folded.turns.keys())
  session.progress({ kind: 'resumed', turn, restoredTo: folded.snapshots.length, lost: all.length })
}

/** The calls that could not be made again, none as a rule. */
async function replayAll(session: SessionContext): Promise<readonly SettledCall[]> {
  const { replays } = session.folded
  for (const [index, settled] of replays.entries()) if (!(await replay(session, settled))) return replays.slice(index)
  return []
}

/**
 * The tree without the lost edits becomes a snapshot, and the loss is recorded with it: a later attempt starts from there
 * and tells the model the same. Where no tree can be made, a later attempt finds the same loss by itself.
 */
async function giveUp(session: SessionContext, lost: readonly SettledCall[]): Promise<void> {
  const { folded, ports, journal } = session
  const after = lastAnswered(folded)
  session.folded = {
    ...folded,
    losses: withUnrepeatable(folded.losses, { after, snapshot: folded.snapshots.length, unrepeatable: lost }),
  }
  const made = await ports.snapshot()
  if (made.kind === 'refused') return
  const { tree, live } = made
  const ids = lost.map(call => call.callId)
  await journal.append({ type: 'snapshot.taken', commandId: `snapshot:without:${ids[0]}`, payload: { turn: after, tree, live, lost: ids } })
}

/** Whether any call may have changed the work tree: recorded as started and not read-only. */
function touchedFiles(session: SessionContext): boolean {
  return [...session.folded.turns.values()].some(turn => [...turn.started.values()].some(call => !call.readOnly))
}

/** False: the call gave other bytes, or none; what it would have written was not. */
async function replay(session: SessionContext, settled: SettledCall): Promise<boolean> {
  const answer = session.folded.turns.get(settled.turn)?.answer
  const raw = answer?.toolCalls.find(call => call.id === settled.callId)
  const call = raw ? readable(session, raw) : null
  if (!session.ports.sandbox.files) throw new Error(`call ${settled.callId} of turn ${settled.turn} can not be made again: no file service`)
  if (!call) return false
  const written: string[] = []
  await call.tool.run(call.input, toolContext(session, expecting(session.ports.sandbox.files, settled, written)))
  return written.length === settled.edits.length
}

/** A file host that writes only what the record says was written. One that is broken must not pass for a file that differs. */
function expecting(files: FileHost, settled: SettledCall, written: string[]): FileHost {
  return {
    ...files,
    read: async (path, maxBytes) => orThrow(await files.read(path, maxBytes)),
    list: files.list.bind(files),
    walk: files.walk.bind(files),
    search: files.search.bind(files),
    async write(path, content) {
      const hash = contentHash(content)
      if (!settled.edits.some(edit => edit.contentHash === hash)) return { kind: 'fault', code: 'denied', message: 'these are other bytes' }
      const answer = orThrow(await files.write(path, content))
      if (answer.kind === 'written') written.push(path)
      return answer
    },
  }
}

function orThrow<A extends { kind: string }>(answer: A | FileFault): A | FileFault {
  if (answer.kind !== 'fault' || (answer as FileFault).code !== 'broken') return answer
  throw new Error(`a recorded edit can not be made again: ${(answer as FileFault).message}`)
}
