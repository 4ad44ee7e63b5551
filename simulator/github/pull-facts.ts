import { git, runGit } from './repository-git.ts'
import type { Pull, Repository } from './state.ts'

export type PullFacts = { mergeable: boolean | null; commits: number; additions: number; deletions: number; changedFiles: number }

export type ChangedPath = {
  filename: string
  previous?: string
  status: 'added' | 'removed' | 'modified' | 'renamed'
  sha: string
  additions: number
  deletions: number
  /** Absent for binary files and for renames without a change, as on GitHub. */
  patch?: string
}

export async function readPullFacts(repository: Repository, pull: Pull): Promise<PullFacts> {
  const files = await readPullFiles(repository, pull)
  const { folder } = repository
  const commits = Number(await git(folder, ['rev-list', '--count', pull.head.sha, `^${pull.base.sha}`]))
  const merge = pull.merged ? null : await runGit(folder, ['merge-tree', '--write-tree', pull.base.sha, pull.head.sha])
  return {
    mergeable: merge === null ? null : merge.exitCode === 0,
    commits,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    changedFiles: files.length,
  }
}

/** What the pull request changes against its merge base. */
export async function readPullFiles(repository: Repository, pull: Pull): Promise<ChangedPath[]> {
  return readChanges(repository.folder, await mergeBase(repository, pull), pull.head.sha)
}

export async function mergeBase(repository: Repository, pull: Pull): Promise<string> {
  const found = await runGit(repository.folder, ['merge-base', pull.base.sha, pull.head.sha])
  return found.exitCode === 0 ? found.stdout.toString().trim() : pull.base.sha
}

export async function readChanges(folder: string, from: string, to: string): Promise<ChangedPath[]> {
  const raw = await git(folder, ['diff', '--raw', '--no-abbrev', '-M', '-z', from, to])
  const fields = raw.split('\0')
  const files: ChangedPath[] = []
  for (let at = 0; at < fields.length && fields[at]?.startsWith(':'); ) {
    const [, , , sha = '', status = ''] = (fields[at] ?? '').split(' ')
    const renamed = status.startsWith('R')
    const path = fields[at + (renamed ? 2 : 1)] ?? ''
    const previous = renamed ? fields[at + 1] : undefined
    at += renamed ? 3 : 2
    files.push({
      ...(await readPatch(folder, from, to, previous === undefined ? [path] : [previous, path])),
      filename: path,
      ...(previous === undefined ? {} : { previous }),
      status: statusOf(status),
      sha,
    })
  }
  return files
}

function statusOf(letter: string): ChangedPath['status'] {
  if (letter === 'A') return 'added'
  if (letter === 'D') return 'removed'
  return letter.startsWith('R') ? 'renamed' : 'modified'
}

async function readPatch(
  folder: string,
  from: string,
  to: string,
  paths: string[],
): Promise<{ additions: number; deletions: number; patch?: string }> {
  const literal = paths.map(path => `:(literal)${path}`)
  const text = (await runGit(folder, ['diff', '-M', from, to, '--', ...literal])).stdout.toString()
  const start = text.search(/^@@ /m)
  if (start < 0) return { additions: 0, deletions: 0 }
  const patch = text.slice(start).replace(/\n$/, '')
  const lines = patch.split('\n')
  return {
    additions: lines.filter(line => line.startsWith('+')).length,
    deletions: lines.filter(line => line.startsWith('-')).length,
    patch,
  }
}
