import type { SessionContext } from './context.ts'
import type { SettledCall } from './fold-session.ts'
import type { FileHost } from './ports.ts'
import { readable, toolContext } from './run-call.ts'
import { contentHash } from './tools/outcome.ts'

/**
 * Brings the work tree to where the record says it was: the last snapshot, then the file edits after it, made again by the
 * same calls. Each must give the very bytes it gave before; if one does not, the record and the tree do not belong together
 * and the run must not go on.
 */
export async function resumeWorkspace(session: SessionContext): Promise<void> {
  const { folded, ports } = session
  if (!touchedFiles(session)) return
  await ports.restore(folded.snapshots.at(-1)?.tree ?? null)
  for (const settled of folded.replays) await replay(session, settled)
  const lost = [...folded.losses.values()].reduce((sum, loss) => sum + loss.calls.length, 0)
  session.progress({ kind: 'resumed', turn: Math.max(0, ...folded.turns.keys()), restoredTo: folded.snapshots.length, lost })
}

/** Whether any call may have changed the work tree: recorded as started and not read-only. */
function touchedFiles(session: SessionContext): boolean {
  return [...session.folded.turns.values()].some(turn => [...turn.started.values()].some(call => !call.readOnly))
}

async function replay(session: SessionContext, settled: SettledCall): Promise<void> {
  const answer = session.folded.turns.get(settled.turn)?.answer
  const raw = answer?.toolCalls.find(call => call.id === settled.callId)
  const call = raw ? readable(session, raw) : null
  if (!call || !session.ports.sandbox.files) throw new Error(`call ${settled.callId} of turn ${settled.turn} can not be made again`)
  const written: string[] = []
  const outcome = await call.tool.run(call.input, toolContext(session, expecting(session.ports.sandbox.files, settled, written)))
  if (written.length !== settled.edits.length) {
    throw new Error(`call ${settled.callId} of turn ${settled.turn} gave other bytes when made again: ${outcome.text}`)
  }
}

/** A file host that writes only what the record says was written. */
function expecting(files: FileHost, settled: SettledCall, written: string[]): FileHost {
  return {
    ...files,
    read: files.read.bind(files),
    list: files.list.bind(files),
    walk: files.walk.bind(files),
    search: files.search.bind(files),
    async write(path, content) {
      const hash = contentHash(content)
      if (!settled.edits.some(edit => edit.contentHash === hash)) return { kind: 'fault', code: 'broken', message: 'these are other bytes' }
      written.push(path)
      return files.write(path, content)
    },
  }
}
