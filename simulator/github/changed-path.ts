import { rememberAnswer } from './git-memory.ts'
import { git, runGit } from './repository-git.ts'

/** GitHub leaves the patch of one file out above this many lines, or bytes. */
const patchLinesMax = 20_000
const patchBytesMax = 500 * 1024

export type ChangedPath = {
  filename: string
  previous?: string
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed'
  sha: string
  additions: number
  deletions: number
  /** Absent for binary and very large files, for changes of the mode and for renames without a change, as on GitHub. */
  patch?: string
}

/** What lies between two trees, by two calls of git however many files there are. */
export function readChanges(folder: string, from: string, to: string): Promise<readonly ChangedPath[]> {
  return rememberAnswer(['changes', folder, from, to], () => askChanges(folder, from, to))
}

async function askChanges(folder: string, from: string, to: string): Promise<readonly ChangedPath[]> {
  const [raw, diff] = await Promise.all([
    git(folder, ['diff', '--raw', '--no-abbrev', '-M', '-z', from, to]),
    runGit(folder, ['diff', '-M', from, to]),
  ])
  // Lines of content begin with a blank, a sign or a backslash: no file can hold one that looks like the head of the next.
  const blocks = diff.stdout.toString().split(/^(?=diff --git )/m)
  const fields = raw.split('\0')
  const files: ChangedPath[] = []
  for (let at = 0, block = 0; at < fields.length && fields[at]?.startsWith(':'); ) {
    const [, , , sha = '', status = ''] = (fields[at] ?? '').split(' ')
    const renamed = status.startsWith('R')
    const previous = renamed ? fields[at + 1] : undefined
    const filename = fields[at + (renamed ? 2 : 1)] ?? ''
    at += renamed ? 3 : 2
    // A file that becomes a link is one change for GitHub and two for git.
    const own = blocks.slice(block, block + (status.startsWith('T') ? 2 : 1))
    block += own.length
    files.push({ ...patchOf(own), filename, ...(previous === undefined ? {} : { previous }), status: statusOf(status), sha })
  }
  return files
}

function statusOf(letter: string): ChangedPath['status'] {
  if (letter.startsWith('A')) return 'added'
  if (letter.startsWith('D')) return 'removed'
  if (letter.startsWith('T')) return 'changed'
  return letter.startsWith('R') ? 'renamed' : 'modified'
}

function patchOf(blocks: string[]): { additions: number; deletions: number; patch?: string } {
  const patches = blocks.flatMap(block => {
    const start = block.search(/^@@ /m)
    return start < 0 ? [] : [block.slice(start).replace(/\n$/, '')]
  })
  if (patches.length === 0) return { additions: 0, deletions: 0 }
  const patch = patches.join('\n')
  const lines = patch.split('\n')
  const figures = {
    additions: lines.filter(line => line.startsWith('+')).length,
    deletions: lines.filter(line => line.startsWith('-')).length,
  }
  const small = lines.length <= patchLinesMax && Buffer.byteLength(patch) <= patchBytesMax
  return small ? { ...figures, patch } : figures
}
