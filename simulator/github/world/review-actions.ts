import type { AnchorWish } from '../anchor.ts'
import { type MadeComment, makeReply, makeReview, makeReviewComment } from '../make-review.ts'
import { deleteReviewComment, editReviewComment, type PullThread, type ReviewEvent } from '../review.ts'
import {
  type Account,
  type GitHubState,
  type Repository,
  type Review,
  type ReviewComment,
  requireAccount,
  requireIssue,
  requirePull,
  requireRepository,
} from '../state.ts'

type Said = { author: string | null; body: string; id?: number }
type At = { repo: string; commentId: number }

/** Reviews, comments on diffs, and clicks on check runs. People's own words pass GitHub's conditions too, or it is a bug. */
export function createReviewActions(state: GitHubState) {
  const accountOf = (login: string | null): Account | null => (login === null ? null : requireAccount(state, login))
  return {
    /** One review with all its comments; without an event it is a comment, and with null it stays pending. */
    review: async (
      given: Omit<Said, 'body'> & {
        repo: string
        number: number
        body?: string
        event?: ReviewEvent | null
        comments?: (AnchorWish & { body: string })[]
      },
    ): Promise<Review> => {
      const { event = 'COMMENT', comments = [], body = '' } = given
      const made = await makeReview(state, requireThread(state, given), {
        author: accountOf(given.author),
        passesLock: true,
        body,
        event,
        comments,
        id: given.id,
      })
      if (made.kind === 'refused') throw new Error(`the review is refused: ${made.errors.join('; ')}`)
      return made.review
    },
    reviewComment: async (given: Said & AnchorWish & { repo: string; number: number }): Promise<ReviewComment> => {
      const { repo, number, author, body, id, ...at } = given
      const thread = requireThread(state, { repo, number })
      return orThrow(await makeReviewComment(state, thread, { author: accountOf(author), passesLock: true, body, id, at }))
    },
    replyToReviewComment: (given: At & Said): ReviewComment => {
      const { repository, comment } = requireReviewComment(state, given)
      const thread = requireThread(state, { repo: given.repo, number: comment.issueNumber })
      const root = comment.inReplyTo === null ? comment : repository.reviewComments.get(comment.inReplyTo)
      const { author, body, id } = given
      return orThrow(makeReply(state, thread, { author: accountOf(author), passesLock: true, body, id, replyTo: root ?? comment }))
    },
    editReviewComment: (given: At & { body: string; sender?: string }): void => {
      const { repository, comment } = requireReviewComment(state, given)
      editReviewComment(state, repository, comment, given.body, given.sender === undefined ? comment.author : accountOf(given.sender))
    },
    deleteReviewComment: (given: At & { sender?: string }): void => {
      const { repository, comment } = requireReviewComment(state, given)
      deleteReviewComment(state, repository, comment, given.sender === undefined ? comment.author : accountOf(given.sender))
    },
    /** By any comment of the thread. */
    resolveThread: (given: At & { by: string | null }): void => {
      const { repository, comment } = requireReviewComment(state, given)
      const root = comment.inReplyTo === null ? comment : repository.reviewComments.get(comment.inReplyTo)
      if (root) root.resolvedBy = accountOf(given.by)
    },
    /** A button of a check run: one of its own, or "Re-run". */
    clickCheckRun: (given: { repo: string; checkRunId: number; sender: string } & ({ identifier: string } | { rerequest: true })): void => {
      const repository = requireRepository(state, given.repo)
      const checkRun = repository.checkRuns.get(given.checkRunId)
      if (!checkRun) throw new Error(`${given.repo} has no check run ${given.checkRunId}`)
      const sender = requireAccount(state, given.sender)
      const change = { event: 'check_run', repository, checkRun, sender } as const
      if (!('identifier' in given)) {
        state.emit({ ...change, action: 'rerequested' })
        return
      }
      const { identifier } = given
      if (!checkRun.actions.some(each => each.identifier === identifier)) throw new Error(`the check run has no button ${identifier}`)
      state.emit({ ...change, action: 'requested_action', identifier })
    },
  }
}

function orThrow(made: MadeComment): ReviewComment {
  if (made.kind === 'refused') throw new Error(`the comment is refused: ${made.problem}`)
  return made.comment
}

function requireThread(state: GitHubState, given: { repo: string; number: number }): PullThread {
  const repository = requireRepository(state, given.repo)
  const issue = requireIssue(repository, given.number)
  return { repository, issue, pull: requirePull(issue) }
}

function requireReviewComment(state: GitHubState, { repo, commentId }: At): { repository: Repository; comment: ReviewComment } {
  const repository = requireRepository(state, repo)
  const comment = repository.reviewComments.get(commentId)
  if (!comment) throw new Error(`${repo} has no comment ${commentId} on a diff`)
  return { repository, comment }
}
