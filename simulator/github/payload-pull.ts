import type { FakeGitHub } from './fake-github.ts'
import { readRef, resolveCommit, runGit } from './repository-git.ts'
import { type Account, fullName, type Issue, type Repository } from './state.ts'
import { accountOf, type PayloadPull, type PayloadThread } from './world-from-payload.ts'

type Given = { thread: PayloadThread; pull: PayloadPull | undefined; author: Account | null }

/**
 * Opens the pull request a payload speaks of. Its head is the payload's commit where the repository has it; otherwise a
 * branch with a change is made up, and `notes` says so.
 */
export async function makePayloadPull(
  github: FakeGitHub,
  base: Repository,
  { thread, pull, author }: Given,
  notes: string[],
): Promise<Issue> {
  const { number, title, body } = thread
  const head = await headRepository(github, base, pull)
  const ref = pull?.head.ref ?? `simulated-${number}`
  const baseRef = pull?.base.ref ?? base.defaultBranch
  await makeBase(base, baseRef)
  await makeHead(github, head, base, { ref, sha: pull?.head.sha, baseRef, number }, notes)
  const issue = await github.openPull({
    repo: fullName(base),
    author: author?.login ?? null,
    number,
    title,
    body,
    head: head === base ? ref : `${head.owner.login}:${ref}`,
    base: baseRef,
    draft: pull?.draft ?? false,
  })
  if (!issue.pull || !pull) return issue
  issue.pull.id = pull.id
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
async function headRepository(github: FakeGitHub, base: Repository, pull: PayloadPull | undefined): Promise<Repository> {
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

type Wanted = { ref: string; sha: string | undefined; baseRef: string; number: number }

async function makeHead(
  github: FakeGitHub,
  head: Repository,
  base: Repository,
  { ref, sha, baseRef, number }: Wanted,
  notes: string[],
): Promise<void> {
  const known = sha === undefined ? null : await resolveCommit(head.folder, sha)
  if (known) {
    await runGit(head.folder, ['update-ref', `refs/heads/${ref}`, known])
    return
  }
  const from = (await readRef(base.folder, `refs/heads/${baseRef}`)) ?? `refs/heads/${head.defaultBranch}`
  await github.commit({ repo: fullName(head), branch: ref, from, files: { [`simulated-${number}.txt`]: 'a change\n' } })
  const reason = sha === undefined ? 'the payload does not name its head' : `the repository does not have ${sha.slice(0, 12)}`
  notes.push(`the pull request was made with a commit of its own on ${ref}: ${reason}`)
}
