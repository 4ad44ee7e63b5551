import path from 'node:path'
import type { TaskState } from '../domain/index.ts'
import { workerLimits } from './limits.ts'
import { inCode } from './words-of-end.ts'

/** A file that the session's own reading tool showed the model, and which lines were asked for; null = the file. */
type ReadFile = { path: string; lines: string | null }

/** From the receipts of the calls, not from what the model says it has read. One row a place, in the order they were read. */
export function filesRead({ session }: Pick<TaskState, 'session'>): ReadFile[] {
  const settled = (session?.turns ?? []).flatMap(turn => turn.calls).flatMap(call => call.settled ?? [])
  const places = settled.filter(({ kind, status }) => kind === 'read' && status === 'ok').map(({ meta }) => placeOf(meta['input']))
  return [...new Map(places.map(place => [`${place.path}:${place.lines}`, place])).values()]
}

export function countFiles(read: readonly ReadFile[]): number {
  return new Set(read.map(file => file.path)).size
}

/** Which files they were, as a list of ours; what was read whole needs no line. */
export function sourcesLine(read: readonly ReadFile[]): string {
  if (read.length === 0) return 'Sources: no file was read.'
  const whole = new Set(read.filter(({ lines }) => lines === null).map(file => file.path))
  const rows = read.filter(({ path: file, lines }) => lines === null || !whole.has(file))
  const shown = rows
    .slice(0, workerLimits.sourcesNamedMax)
    .map(({ path: file, lines }) => `\`${inCode(lines === null ? file : `${file}:${lines}`)}\``)
  const more = rows.length - shown.length
  return `Sources: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

/** `meta.input` is a record with anything in it; only what a reading call says is taken from it. */
function placeOf(input: unknown): ReadFile {
  const { path: file, offset, limit } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  const name = path.posix.normalize(String(file)).replace(/^\/workspace\//, '')
  if (typeof offset !== 'number' && typeof limit !== 'number') return { path: name, lines: null }
  const first = typeof offset === 'number' ? offset : 1
  if (typeof limit !== 'number') return { path: name, lines: `${first}-` }
  return { path: name, lines: limit === 1 ? String(first) : `${first}-${first + limit - 1}` }
}
