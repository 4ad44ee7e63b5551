import { faultOfPath } from './entry-name.ts'
import type { AdoptedTree, Store, TreeRules } from './git.ts'
import { gitLimits } from './limits.ts'
import { parseRaw, type RawChange } from './raw-change.ts'
import { git } from './run-git.ts'
import { showPath } from './shown-path.ts'

const modes = new Set(['100644', '100755', '120000'])

type Refused = Extract<AdoptedTree, { kind: 'refused' }>
export type CheckTreeOptions = { store: Store; env: Record<string, string>; baseTree: string; tree: string; rules: TreeRules }

/**
 * Walks what differs between two trees, names, modes and sizes; what is the same came from the repository. A gitlink may
 * neither come, go nor move. Null = in order.
 */
export async function checkTree({ store, env, baseTree, tree, rules }: CheckTreeOptions): Promise<Refused | null> {
  const call = { gitDir: store.path, env, wallMs: store.mirror.wallMs }
  const type = await git({ ...call, argv: ['cat-file', '--batch-check=%(objecttype)'], input: `${tree}\n` })
  if (type.toString('utf8') !== 'tree\n') return refuse(Buffer.alloc(0), 'the named object is no tree')
  const [raw, names] = await Promise.all([
    git({ ...call, argv: ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', baseTree, tree] }),
    git({ ...call, argv: ['ls-tree', '-r', '-z', '--name-only', tree] }),
  ])
  const files = countNul(names)
  if (files > rules.filesMax) return refuse(Buffer.alloc(0), `the tree has ${files} files, more than ${rules.filesMax}`)
  const changes = parseRaw(raw)
  for (const change of changes) {
    const reason = faultOfChange(change)
    if (reason) return refuse(change.path, reason)
  }
  return await checkSizes(call, changes, rules)
}

function faultOfChange({ path, oldMode, newMode }: RawChange): string | null {
  const name = faultOfPath(path)
  if (name) return name
  if (oldMode === '160000' || newMode === '160000') return 'a submodule was added, removed or changed'
  if (newMode !== '000000' && !modes.has(newMode)) return `mode ${newMode} is not allowed`
  return null
}

async function checkSizes(
  call: { gitDir: string; env: Record<string, string>; wallMs: number },
  changes: RawChange[],
  rules: TreeRules,
): Promise<Refused | null> {
  const present = changes.filter(change => change.newMode !== '000000')
  if (present.length === 0) return null
  const input = present.map(change => `${change.newId}\n`).join('')
  const output = await git({ ...call, argv: ['cat-file', '--batch-check=%(objecttype) %(objectsize)'], input })
  const lines = output.toString('utf8').split('\n')
  for (const [index, change] of present.entries()) {
    const [type, size] = (lines[index] as string).split(' ')
    if (type !== 'blob') return refuse(change.path, 'its content is no file')
    const max = change.newMode === '120000' ? Math.min(gitLimits.linkBytesMax, rules.fileBytesMax) : rules.fileBytesMax
    if (Number(size) > max) return refuse(change.path, `it has ${size} bytes, more than ${max}`)
  }
  return null
}

function refuse(path: Buffer, reason: string): Refused {
  return { kind: 'refused', path: showPath(path), reason }
}

function countNul(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) count++
  return count
}
