import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Store } from './git.ts'
import { gitLimits } from './limits.ts'
import type { RawChange } from './raw-change.ts'
import { readBlobs } from './read-blobs.ts'
import { git } from './run-git.ts'

const pointerStart = 'version https://git-lfs.github.com/spec/v'

/**
 * The changes that touch Git LFS: the path has the filter in one of the trees, or its content was or became a pointer.
 * Without the filter (nothing of it runs here) a new file would be committed whole, and a pointer is no text to edit.
 */
export async function findLfs(store: Store, from: string, to: string, changes: readonly RawChange[]): Promise<ReadonlySet<RawChange>> {
  if (changes.length === 0) return new Set()
  const [before, after, pointers] = await Promise.all([
    pathsWithFilter(store, from, changes),
    pathsWithFilter(store, to, changes),
    findPointers(store, changes),
  ])
  return new Set(
    changes.filter((change, index) => before[index] || after[index] || pointers.has(change.oldId) || pointers.has(change.newId)),
  )
}

async function findPointers(store: Store, changes: readonly RawChange[]): Promise<ReadonlySet<string>> {
  const ids = changes.flatMap(({ oldMode, oldId, newMode, newId }) => [
    ...(oldMode.startsWith('100') ? [oldId] : []),
    ...(newMode.startsWith('100') ? [newId] : []),
  ])
  const blobs = await readBlobs(store, ids, gitLimits.pointerBytesMax)
  return new Set([...blobs].filter(([, content]) => content.toString('latin1', 0, pointerStart.length) === pointerStart).map(([id]) => id))
}

/** For each change, whether the tree's own attributes give its path the filter `lfs`. */
async function pathsWithFilter(store: Store, tree: string, changes: readonly RawChange[]): Promise<boolean[]> {
  const files = await attributeFiles(store, tree)
  const contents = await readBlobs(
    store,
    files.map(file => file.id),
    gitLimits.attributesBytesMax,
  )
  if (![...contents.values()].some(content => content.includes('lfs'))) return changes.map(() => false)
  // Git reads attributes from an index as well: one that holds nothing else is made in no time, however large the tree.
  const index = join(store.path, `attributes-${randomBytes(8).toString('hex')}.index`)
  const call = { gitDir: store.path, env: { GIT_INDEX_FILE: index }, wallMs: store.mirror.wallMs }
  try {
    await git({ ...call, argv: ['update-index', '-z', '--add', '--index-info'], input: Buffer.concat(files.map(file => file.line)) })
    const input = Buffer.concat(changes.flatMap(({ path }) => [path, Buffer.of(0)]))
    const output = await git({ ...call, argv: ['check-attr', '--cached', '-z', '--stdin', 'filter'], input })
    // `<path>\0filter\0<value>\0` for each.
    const fields = output.toString('latin1').split('\0')
    return changes.map((_, row) => fields[row * 3 + 2] === 'lfs')
  } finally {
    rmSync(index, { force: true })
  }
}

async function attributeFiles(store: Store, tree: string): Promise<{ id: string; line: Buffer }[]> {
  const output = await git({ gitDir: store.path, argv: ['ls-tree', '-r', '-z', tree], wallMs: store.mirror.wallMs })
  const found: { id: string; line: Buffer }[] = []
  const name = Buffer.from('.gitattributes\0')
  for (let at = output.indexOf(name); at >= 0; at = output.indexOf(name, at + 1)) {
    const start = output.lastIndexOf(0, at - 1) + 1
    const end = at + name.length
    const [mode = '', , id = ''] = output.toString('latin1', start, output.indexOf(9, start)).split(' ')
    const path = output.toString('latin1', output.indexOf(9, start) + 1, end - 1)
    // A link or a name that only ends like it holds no attributes.
    if (mode.startsWith('100') && basename(path) === '.gitattributes') found.push({ id, line: output.subarray(start, end) })
  }
  return found
}
