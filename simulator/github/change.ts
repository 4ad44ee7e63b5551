import type { Account, CheckRun, Comment, Installation, Issue, Repository, Review, ReviewComment } from './state.ts'

/** What an edit changed, in GitHub's words: the former value of each field. */
export type Edits = { title?: { from: string }; body?: { from: string | null }; base?: { ref: { from: string }; sha: { from: string } } }

/** Something that happened, for its webhook. `sender` is null for a deleted account. */
export type Change = RepositoryChange | InstallationChange

type OfRepository = { repository: Repository; sender: Account | null }

export type RepositoryChange = OfRepository &
  (
    | { event: 'issues'; action: 'opened' | 'closed' | 'reopened' | 'edited'; issue: Issue; changes?: Edits }
    | { event: 'issue_comment'; action: 'created' | 'edited' | 'deleted'; comment: Comment }
    | {
        event: 'pull_request'
        action: 'opened' | 'closed' | 'reopened' | 'edited' | 'synchronize'
        issue: Issue
        before?: string
        changes?: Edits
      }
    | { event: 'pull_request_review'; action: 'submitted' | 'edited' | 'dismissed'; review: Review; before?: string }
    | { event: 'pull_request_review_comment'; action: 'created' | 'edited' | 'deleted'; reviewComment: ReviewComment; before?: string }
    | { event: 'check_run'; action: 'created' | 'completed' | 'rerequested'; checkRun: CheckRun }
    | { event: 'check_run'; action: 'requested_action'; checkRun: CheckRun; identifier: string }
  )

type InstallationChange = { installation: Installation; sender: Account } & (
  | { event: 'installation'; action: 'created' | 'deleted' | 'suspend' | 'unsuspend' }
  | { event: 'installation_repositories'; action: 'added' | 'removed'; repositories: Repository[] }
)
