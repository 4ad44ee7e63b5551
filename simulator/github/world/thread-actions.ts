import { editIssue } from '../edit-issue.ts'
import { mergePull } from '../merge-pull.ts'
import { addComment, deleteComment, editComment, type NewComment, type NewIssue, openIssue, setIssueState } from '../open-issue.ts'
import { type NewPull, openPull } from '../open-pull.ts'
import { commitFiles, type FileChanges } from '../seed-repository.ts'
import {
  type Account,
  type Comment,
  type GitHubState,
  type Issue,
  type MergeQueueEntry,
  type Repository,
  requireAccount,
  requireIssue,
  requireRepository,
} from '../state.ts'
import { syncPulls } from '../sync-pulls.ts'

type Thread = { repo: string; number: number; sender?: string }

/** What is said and pushed. */
export function createThreadActions(state: GitHubState) {
  return { ...createIssueActions(state), ...createCommentActions(state), ...createPullActions(state) }
}

function createIssueActions(state: GitHubState) {
  return {
    openIssue: (given: {
      repo: string
      author: string | null
      title: string
      body?: string | null
      number?: number
      id?: number
    }): Issue => {
      const { repo, author, body = null, ...rest } = given
      const wish: NewIssue = { ...rest, body, author: author === null ? null : requireAccount(state, author) }
      return openIssue(state, requireRepository(state, repo), wish)
    },
    /** Of a pull request too. */
    editIssue: (given: Thread & { title?: string; body?: string | null }): void => {
      const { repository, issue } = findThread(state, given)
      editIssue(state, repository, issue, { title: given.title, body: given.body }, senderOf(state, given.sender, issue.author))
    },
    setIssueState: (given: Thread & { state: 'open' | 'closed' }): void => {
      const { repository, issue } = findThread(state, given)
      setIssueState(state, repository, issue, given.state, senderOf(state, given.sender, issue.author))
    },
    lock: (repo: string, number: number) => {
      requireIssue(requireRepository(state, repo), number).locked = true
    },
  }
}

function createCommentActions(state: GitHubState) {
  return {
    comment: (given: { repo: string; number: number; author: string | null; body: string; id?: number }): Comment => {
      const { repo, number, author, ...rest } = given
      const repository = requireRepository(state, repo)
      const wish: NewComment = { ...rest, author: author === null ? null : requireAccount(state, author) }
      return addComment(state, repository, requireIssue(repository, number), wish)
    },
    editComment: (given: { repo: string; commentId: number; body: string; sender?: string }): void => {
      const { repository, comment } = requireComment(state, given)
      editComment(state, repository, comment, given.body, senderOf(state, given.sender, comment.author))
    },
    deleteComment: (given: { repo: string; commentId: number; sender?: string }): void => {
      const { repository, comment } = requireComment(state, given)
      deleteComment(state, repository, comment, senderOf(state, given.sender, comment.author))
    },
  }
}

function createPullActions(state: GitHubState) {
  return {
    mergePull: async (given: Thread): Promise<string> => {
      const { repository, issue } = findThread(state, given)
      return mergePull(state, repository, issue, senderOf(state, given.sender, issue.author))
    },
    openPull: async (given: {
      repo: string
      author: string | null
      title: string
      body?: string | null
      head: string
      headRepo?: string
      base?: string
      draft?: boolean
      maintainerCanModify?: boolean
      number?: number
    }): Promise<Issue> => {
      const { repo, author, body = null, draft = false, ...rest } = given
      const repository = requireRepository(state, repo)
      const wish: NewPull = {
        base: repository.defaultBranch,
        ...rest,
        body,
        draft,
        author: author === null ? null : requireAccount(state, author),
      }
      const opened = await openPull(state, repository, wish)
      if (opened.kind === 'refused') throw new Error(`the pull request is refused: ${JSON.stringify(opened.errors)}`)
      return opened.issue
    },
    /** Puts a pull request into the merge queue, or with null takes it out. */
    setMergeQueue: (given: Thread & { entry: Partial<Omit<MergeQueueEntry, 'id'>> | null }): void => {
      const { pull } = findThread(state, given).issue
      if (!pull) throw new Error(`number ${given.number} is no pull request`)
      pull.mergeQueueEntry = given.entry && { id: state.nextId(), position: 1, state: 'QUEUED', ...given.entry }
    },
    /** Adds a commit to a branch as somebody who pushed it would; answers its SHA. */
    commit: async (given: {
      repo: string
      branch: string
      files: FileChanges
      message?: string
      from?: string
      author?: string
    }): Promise<string> => {
      const repository = requireRepository(state, given.repo)
      const sha = await commitFiles(repository.folder, { message: 'A change', ...given })
      await syncPulls(state, repository, given.author === undefined ? null : requireAccount(state, given.author))
      return sha
    },
  }
}

function findThread(state: GitHubState, { repo, number }: Thread): { repository: Repository; issue: Issue } {
  const repository = requireRepository(state, repo)
  return { repository, issue: requireIssue(repository, number) }
}

function requireComment(state: GitHubState, given: { repo: string; commentId: number }): { repository: Repository; comment: Comment } {
  const repository = requireRepository(state, given.repo)
  const comment = repository.comments.get(given.commentId)
  if (!comment) throw new Error(`${given.repo} has no comment ${given.commentId}`)
  return { repository, comment }
}

function senderOf(state: GitHubState, login: string | undefined, otherwise: Account | null): Account | null {
  return login === undefined ? otherwise : requireAccount(state, login)
}
