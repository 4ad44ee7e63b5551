import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from './git.ts'
import { checkSha } from './ref-name.ts'
import { git } from './run-git.ts'
import { pathBytes, showPath } from './shown-path.ts'

const noObject = '0'.repeat(40)

/**
 * A tree like `into` in which each of `paths` is as it is in `from`; absent there = absent here. On objects alone: nothing
 * is checked out. For evidence (base code with the new tests, new code with the base's) and for taking back single paths.
 */
export async function mixTrees(
  store: Store,
  { into, from, paths }: { into: string; from: string; paths: readonly string[] },
): Promise<string> {
  if (paths.length === 0) return into
  const index = join(store.path, `mix-${randomBytes(8).toString('hex')}.index`)
  const call = { gitDir: store.path, env: { GIT_INDEX_FILE: index }, wallMs: store.mirror.wallMs }
  try {
    await git({ ...call, argv: ['read-tree', checkSha(into)] })
    const entries = await entriesOf(store, from, new Set(paths))
    const removed = paths.filter(path => !entries.has(path)).map(path => line('0', noObject, path))
    const taken = [...entries].map(([path, { mode, sha }]) => line(mode, sha, path))
    // Removals first: a file that stands where a folder of the other tree is would otherwise be in the way.
    await git({
      ...call,
      argv: ['update-index', '-z', '--add', '--replace', '--index-info'],
      input: Buffer.concat([...removed, ...taken]),
    })
    return (await git({ ...call, argv: ['write-tree'] })).toString('latin1').trim()
  } finally {
    await rm(index, { force: true })
  }
}

async function entriesOf(store: Store, tree: string, wanted: ReadonlySet<string>): Promise<Map<string, { mode: string; sha: string }>> {
  const output = await git({ gitDir: store.path, argv: ['ls-tree', '-r', '-z', checkSha(tree)], wallMs: store.mirror.wallMs })
  const found = new Map<string, { mode: string; sha: string }>()
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from)
    const tab = output.indexOf(9, from)
    const path = showPath(output.subarray(tab + 1, end))
    if (wanted.has(path)) {
      const [mode = '', , sha = ''] = output.toString('latin1', from, tab).split(' ')
      found.set(path, { mode, sha })
    }
    from = end + 1
  }
  return found
}

function line(mode: string, sha: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${sha}\t`, 'latin1'), pathBytes(path), Buffer.from([0])])
}
