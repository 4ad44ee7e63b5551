import { isUtf8 } from 'node:buffer'
import type { Store } from './git.ts'
import { parseRaw, type RawChange } from './raw-change.ts'
import { readBlobs } from './read-blobs.ts'
import { checkSha } from './ref-name.ts'
import { git } from './run-git.ts'

/** One path that differs; `content` null = there is nothing any more. Of a submodule the content is the id of its commit. */
export type ChangeEntry = { path: string; mode: string; content: Uint8Array | null }

/** Deletions first, so that a file may stand where a folder was. `refused`: a clause people read. */
export type ChangeRead = { kind: 'read'; baseTree: string; entries: ChangeEntry[] } | { kind: 'refused'; reason: string }

/** What makes the second tree of the first, with all bytes, for who must make it elsewhere without git. */
export async function readChange(
  store: Store,
  from: string,
  to: string,
  { filesMax, bytesMax }: { filesMax: number; bytesMax: number },
): Promise<ChangeRead> {
  const call = { gitDir: store.path, wallMs: store.mirror.wallMs }
  const argv = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--no-relative', checkSha(from), checkSha(to)]
  const changes = parseRaw(await git({ ...call, argv }))
  if (changes.length > filesMax) return { kind: 'refused', reason: `it has ${changes.length} files, more than ${filesMax}` }
  if (!changes.every(({ path }) => isUtf8(path))) return { kind: 'refused', reason: 'a name in it is no text' }
  const blobs = await readBlobs(
    store,
    changes.filter(isBlob).map(change => change.newId),
    bytesMax,
  )
  const entries = changes.map(change => toEntry(change, blobs))
  const bytes = [...blobs.values()].reduce((sum, content) => sum + content.length, 0)
  if (bytes > bytesMax || changes.some(change => isBlob(change) && !blobs.has(change.newId)))
    return { kind: 'refused', reason: `it has more than ${bytesMax} bytes` }
  const baseTree = (await git({ ...call, argv: ['rev-parse', '--verify', `${checkSha(from)}^{tree}`] })).toString('latin1').trim()
  return { kind: 'read', baseTree: checkSha(baseTree), entries: entries.sort((one, other) => rank(one) - rank(other)) }
}

const absent = '000000'
const submodule = '160000'

function isBlob({ newMode }: RawChange): boolean {
  return newMode !== absent && newMode !== submodule
}

function toEntry({ path, oldMode, newMode, newId }: RawChange, blobs: ReadonlyMap<string, Buffer>): ChangeEntry {
  const name = path.toString('utf8')
  if (newMode === absent) return { path: name, mode: oldMode, content: null }
  return { path: name, mode: newMode, content: newMode === submodule ? Buffer.from(newId) : (blobs.get(newId) ?? Buffer.alloc(0)) }
}

function rank({ content }: ChangeEntry): number {
  return content === null ? 0 : 1
}
