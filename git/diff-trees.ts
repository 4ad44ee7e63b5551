import { type ChangedFile, lfsNote } from '../domain/index.ts'
import { findLfs } from './find-lfs.ts'
import type { Store, TreeDiff } from './git.ts'
import { gitLimits } from './limits.ts'
import { parseRawHead, type RawChange } from './raw-change.ts'
import { checkSha } from './ref-name.ts'
import { git, gitError, runGit } from './run-git.ts'
import { showPath } from './shown-path.ts'

const settings = ['--no-color', '--no-ext-diff', '--no-textconv', '-M50%', `-l${gitLimits.renamesMax}`, '--no-relative']

/**
 * What changed between two trees, as rows and as one patch. Both come from objects alone: a bare repository has no
 * attributes, so no `-diff` or `binary` of the change can hide or alter a part of it.
 */
export async function diffTrees(
  store: Store,
  from: string,
  to: string,
  patchBytesMax: number = gitLimits.patchBytesMax,
): Promise<TreeDiff> {
  const trees = [checkSha(from), checkSha(to)]
  const call = { gitDir: store.path, wallMs: store.mirror.wallMs }
  const rows = { ...call, argv: ['diff-tree', '-r', '-z', '--raw', '--numstat', '--no-abbrev', ...settings, ...trees] }
  const patch = {
    ...call,
    argv: ['diff-tree', '-r', '-p', '--binary', '--full-index', '--src-prefix=a/', '--dst-prefix=b/', ...settings, ...trees],
    stdoutBytesMax: patchBytesMax,
  }
  const [listed, printed] = await Promise.all([git(rows), runGit(patch)])
  if (printed.exitCode !== 0 && printed.ended !== 'too-much-output') throw gitError(patch, printed)
  const { changes, rest } = parseRawHead(listed)
  const counts = parseNumstat(listed.subarray(rest))
  const lfs = await findLfs(store, from, to, changes)
  const files = changes.map((change, index) => toFile(change, counts[index] as Count, lfs.has(change)))
  return { files, patch: printed.exitCode === 0 ? printed.stdout : null }
}

function toFile(change: RawChange, { added, removed }: Count, lfs: boolean): ChangedFile {
  const deleted = change.newMode === '000000'
  return {
    path: showPath(change.path),
    status: statuses[change.status] ?? 'modified',
    from: change.from ? showPath(change.from) : null,
    mode: deleted ? change.oldMode : change.newMode,
    added,
    removed,
    notes: notesOf(change, lfs),
  }
}

const statuses: Record<string, ChangedFile['status']> = { A: 'added', M: 'modified', D: 'deleted', R: 'renamed', T: 'type-changed' }

/** What the row's other fields do not say. */
function notesOf({ oldMode, newMode, status }: RawChange, lfs: boolean): string[] {
  const moded = status !== 'A' && status !== 'D' && oldMode !== newMode
  return [...(moded ? [`mode ${oldMode} → ${newMode}`] : []), ...(lfs ? [lfsNote] : [])]
}

type Count = { added: number | null; removed: number | null }

/** `<added>\t<removed>\t<path>\0`, or `…\t\0<from>\0<to>\0` for a rename; `-` means binary. */
function parseNumstat(output: Buffer): Count[] {
  const counts: Count[] = []
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at)
    const firstTab = output.indexOf(9, at)
    const secondTab = output.indexOf(9, firstTab + 1)
    const number = (from: number, to: number) => {
      const text = output.toString('latin1', from, to)
      return text === '-' ? null : Number(text)
    }
    counts.push({ added: number(at, firstTab), removed: number(firstTab + 1, secondTab) })
    at = end + 1
    if (secondTab + 1 === end) at = output.indexOf(0, output.indexOf(0, at) + 1) + 1
  }
  return counts
}
