import { isUtf8 } from 'node:buffer'
import { faultOfPath } from './entry-name.ts'
import type { FileAt, Mirror, TreeEntry } from './git.ts'
import { gitLimits } from './limits.ts'
import { checkSha } from './ref-name.ts'
import { git } from './run-git.ts'
import { pathBytes, showPath } from './shown-path.ts'

/** One file of a commit or tree, from the objects alone: nothing is checked out, no link is followed, no filter runs. */
export async function readFileAt(mirror: Mirror, sha: string, path: string, bytesMax: number = gitLimits.fileAtBytesMax): Promise<FileAt> {
  const entry = await entryAt(mirror, sha, path)
  if (!entry) return { kind: 'absent' }
  if (entry.mode === '120000') return { kind: 'refused', reason: 'symlink', message: `${path} is a symbolic link` }
  if (entry.type === 'commit') return { kind: 'refused', reason: 'submodule', message: `${path} is a submodule` }
  if (entry.type === 'tree') return { kind: 'refused', reason: 'folder', message: `${path} is a folder` }
  if ((entry.bytes ?? 0) > bytesMax) {
    return { kind: 'refused', reason: 'too-large', message: `${path} has ${entry.bytes} bytes, more than ${bytesMax}` }
  }
  const content = await git({ gitDir: mirror.path, argv: ['cat-file', 'blob', entry.sha], wallMs: mirror.wallMs })
  return { kind: 'file', content, mode: entry.mode === '100755' ? '100755' : '100644' }
}

/** The entries of one folder ('' = the root), or of everything below it. Null: more than `entriesMax`. */
export async function listTreeAt(
  mirror: Mirror,
  sha: string,
  options: { path?: string; recursive?: boolean; entriesMax: number },
): Promise<TreeEntry[] | null> {
  const below = options.path ? [`${options.path.replace(/\/$/, '')}/`] : []
  const argv = ['--literal-pathspecs', 'ls-tree', '-z', '-l', ...(options.recursive ? ['-r'] : []), checkSha(sha), '--', ...below]
  const entries = parseTree(await git({ gitDir: mirror.path, argv, wallMs: mirror.wallMs }))
  return entries.length > options.entriesMax ? null : entries
}

async function entryAt(mirror: Mirror, sha: string, path: string): Promise<TreeEntry | null> {
  const bytes = pathBytes(path)
  // No tree has such a name, and git takes some for a mistake of the caller.
  if (faultOfPath(bytes) !== null || bytes.includes(0)) return null
  // An argument is text; a name that is none is looked for in the whole list.
  const argument = isUtf8(bytes) ? ['--', bytes.toString('utf8')] : ['-r', '-t']
  const argv = ['--literal-pathspecs', 'ls-tree', '-z', '-l', checkSha(sha), ...argument]
  return parseTree(await git({ gitDir: mirror.path, argv, wallMs: mirror.wallMs })).find(entry => entry.path === path) ?? null
}

/** `<mode> <type> <sha> <size or ->\t<path>\0`, the size padded with blanks. */
export function parseTree(output: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from)
    const tab = output.indexOf(9, from)
    const [mode, type, sha, size] = output.toString('latin1', from, tab).split(/ +/) as [string, TreeEntry['type'], string, string]
    entries.push({ path: showPath(output.subarray(tab + 1, end)), mode, type, sha, bytes: size === '-' ? null : Number(size) })
    from = end + 1
  }
  return entries
}
