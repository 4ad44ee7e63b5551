import { accountOf } from './add-account.ts'
import type { FakeGitHub } from './fake-github.ts'
import { overlayHunk } from './hunk.ts'
import type { Differences, RecordedComment, RecordedPull, RecordedThread } from './recorded-payload.ts'
import { readRef, resolveCommit, runGit } from './repository-git.ts'
import type { FileChanges } from './seed-repository.ts'
import { type Account, fullName, type Issue, type Repository } from './state.ts'

type Given = {
  thread: Pick<RecordedThread, 'number' | 'title' | 'body'>
  pull: RecordedPull | undefined
  author: Account | null
  /** On the diff: a change that is made up is made there. */
  comment?: RecordedComment | undefined
}

/**
 * Opens the pull request a payload speaks of. Its head is the payload's commit where the repository has it; otherwise a
 * branch with a change is made up, and that commit is to stand in the payload's place.
 */
export async function makeRecordedPull(
  github: FakeGitHub,
  base: Repository,
  { thread, pull, author, comment }: Given,
  differences: Differences,
): Promise<Issue> {
  const { number, title, body } = thread
  const head = await headRepository(github, base, pull)
  const ref = pull?.head.ref ?? `simulated-${number}`
  const baseRef = pull?.base.ref ?? base.defaultBranch
  await makeBase(base, baseRef)
  const files = { [`simulated-${number}.txt`]: 'a change\n', ...(await fileUnder(base, baseRef, comment)) }
  await makeHead(github, head, base, { ref, sha: pull?.head.sha, baseRef, files }, differences)
  const issue = await github.openPull({
    repo: fullName(base),
    author: author?.login ?? null,
    number,
    title,
    body,
    head: head === base ? ref : `${head.owner.login}:${ref}`,
    headRepo: head.name,
    base: baseRef,
    draft: pull?.draft ?? false,
  })
  if (!issue.pull || !pull) return issue
  issue.pull.id = pull.id
  if (pull.merged) Object.assign(issue.pull, { merged: true, mergedAt: github.state.now() })
  await replaceSha(base, pull.base.sha, issue.pull.base.sha, differences)
  if (pull.head.repo) return issue
  // The fork is gone by now; only its objects, under the pull request's ref, and its owner's name are left.
  await github.removeRepository(fullName(head))
  issue.pull.head.owner = accountOf(github.state, pull.head.user) ?? head.owner
  return issue
}

/**
 * The repository itself, or the fork the payload names. A deleted fork is made under a name of its own for as long as its
 * objects are needed: its owner may be the base repository's.
 */
async function headRepository(github: FakeGitHub, base: Repository, pull: RecordedPull | undefined): Promise<Repository> {
  if (!pull) return base
  const forkOf = fullName(base)
  if (!pull.head.repo) return github.addRepository({ owner: 'deleted-fork', name: base.name, forkOf })
  const { name } = pull.head.repo
  const owner = accountOf(github.state, pull.head.repo.owner)
  if (!owner || (owner.id === base.owner.id && name === base.name)) return base
  return github.addRepository({ owner: owner.login, name, forkOf })
}

async function makeBase(base: Repository, ref: string): Promise<void> {
  if (await readRef(base.folder, `refs/heads/${ref}`)) return
  await runGit(base.folder, ['update-ref', `refs/heads/${ref}`, `refs/heads/${base.defaultBranch}`])
}

/** The file a comment stands on, with the lines its hunk shows: so that they are there, and are a change. */
async function fileUnder(base: Repository, baseRef: string, comment: RecordedComment | undefined): Promise<FileChanges> {
  if (!comment?.path) return {}
  const { stdout, exitCode } = await runGit(base.folder, ['cat-file', 'blob', `refs/heads/${baseRef}:${comment.path}`])
  return { [comment.path]: overlayHunk(exitCode === 0 ? stdout.toString() : '', comment.diff_hunk) }
}

type Wanted = { ref: string; sha: string | undefined; baseRef: string; files: FileChanges }

async function makeHead(
  github: FakeGitHub,
  head: Repository,
  base: Repository,
  { ref, sha, baseRef, files }: Wanted,
  { notes, shas }: Differences,
): Promise<void> {
  const known = sha === undefined ? null : await resolveCommit(head.folder, sha)
  if (known) {
    await runGit(head.folder, ['update-ref', `refs/heads/${ref}`, known])
    return
  }
  const from = (await readRef(base.folder, `refs/heads/${baseRef}`)) ?? `refs/heads/${head.defaultBranch}`
  const made = await github.commit({ repo: fullName(head), branch: ref, from, files })
  if (sha !== undefined) shas.set(sha, made)
  const reason = sha === undefined ? 'the payload does not name its head' : `the repository does not have ${sha.slice(0, 12)}`
  notes.push(`the pull request was made with a commit of its own on ${ref}: ${reason}`)
}

/** Another commit stands in for one the repository does not have. */
export async function replaceSha(repository: Repository, recorded: string | undefined, by: string, { shas }: Differences): Promise<void> {
  if (recorded === undefined || shas.has(recorded) || (await resolveCommit(repository.folder, recorded))) return
  shas.set(recorded, by)
}
