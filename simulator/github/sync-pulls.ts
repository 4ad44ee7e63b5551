import { moveReviewComments } from './move-review-comments.ts'
import { setIssueState } from './open-issue.ts'
import { git, listRefs, runGit } from './repository-git.ts'
import type { Account, GitHubState, Repository } from './state.ts'

/** Called after refs of a repository moved: heads of open pull requests follow, and one whose branch is gone is closed. */
export async function syncPulls(state: GitHubState, moved: Repository, sender: Account | null): Promise<void> {
  moved.pushedAt = state.now()
  const open = [...state.repositories.values()].flatMap(repository =>
    [...repository.issues.values()].flatMap(issue => {
      const { pull } = issue
      return pull && issue.state === 'open' && pull.head.repository?.id === moved.id ? [{ repository, issue, pull }] : []
    }),
  )
  if (open.length === 0) return
  const tips = new Map((await listRefs(moved.folder, 'refs/heads/')).map(each => [each.ref, each.sha]))
  for (const { repository, issue, pull } of open) {
    const sha = tips.get(`refs/heads/${pull.head.ref}`)
    if (sha === undefined) {
      setIssueState(state, repository, issue, 'closed', sender)
    } else if (sha !== pull.head.sha) {
      const before = pull.head.sha
      pull.head.sha = sha
      issue.updatedAt = state.now()
      await writePullRef(repository, moved, issue.number, sha)
      await moveReviewComments(repository, issue, pull)
      state.emit({ event: 'pull_request', action: 'synchronize', repository, issue, sender, before })
    }
  }
}

/** `refs/pull/N/head` in the base repository, with the objects of a fork's branch. */
export async function writePullRef(base: Repository, head: Repository, number: number, sha: string): Promise<void> {
  const there = base === head || (await runGit(base.folder, ['cat-file', '-e', sha])).exitCode === 0
  if (!there) await git(base.folder, ['fetch', '--quiet', '--no-tags', head.folder, sha])
  await git(base.folder, ['update-ref', `refs/pull/${number}/head`, sha])
}
