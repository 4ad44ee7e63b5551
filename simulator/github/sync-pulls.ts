import { moveReviewComments } from './move-review-comments.ts'
import { setIssueState } from './open-issue.ts'
import { git, readRef, runGit } from './repository-git.ts'
import type { Account, GitHubState, Repository } from './state.ts'

/** Called after refs of a repository moved: heads of open pull requests follow, and one whose branch is gone is closed. */
export async function syncPulls(state: GitHubState, moved: Repository, sender: Account | null): Promise<void> {
  moved.pushedAt = state.now()
  for (const repository of state.repositories.values()) {
    for (const issue of repository.issues.values()) {
      const { pull } = issue
      if (!pull || issue.state === 'closed' || pull.head.repository?.id !== moved.id) continue
      const sha = await readRef(moved.folder, `refs/heads/${pull.head.ref}`)
      if (sha === null) {
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
}

/** `refs/pull/N/head` in the base repository, with the objects of a fork's branch. */
export async function writePullRef(base: Repository, head: Repository, number: number, sha: string): Promise<void> {
  const there = await runGit(base.folder, ['cat-file', '-e', sha])
  if (there.exitCode !== 0) await git(base.folder, ['fetch', '--quiet', '--no-tags', head.folder, sha])
  await git(base.folder, ['update-ref', `refs/pull/${number}/head`, sha])
}
