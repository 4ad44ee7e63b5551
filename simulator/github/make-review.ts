import { type Anchor, type AnchorWish, findAnchor } from './anchor.ts'
import { type AnchorRefusal, sentenceOf } from './anchor-message.ts'
import { listPullCommits, readPullFiles } from './pull-facts.ts'
import { addReview, addReviewComment, findPending, type PullThread, publishReview, type ReviewEvent } from './review.ts'
import type { Account, GitHubState, Issue, Review, ReviewComment } from './state.ts'
import { bodyCharactersMax, characters } from './text-limit.ts'

type Author = {
  author: Account | null
  byApp?: boolean
  /** May write although the conversation is locked. */
  passesLock?: boolean
}

export type ReviewWish = Author & {
  body: string
  /** Null leaves it pending. */
  event: ReviewEvent | null
  commitId?: string | undefined
  comments: (AnchorWish & { body: string })[]
  id?: number | undefined
}

export type MadeReview = { kind: 'made'; review: Review } | { kind: 'refused'; errors: string[] }

/** GitHub's own conditions. One comment that does not fit refuses the whole review. */
export async function makeReview(state: GitHubState, thread: PullThread, wish: ReviewWish): Promise<MadeReview> {
  const { repository, pull } = thread
  const error = await reviewError(thread, wish)
  if (error) return { kind: 'refused', errors: [error] }
  const commitSha = wish.commitId ?? pull.head.sha
  const files = await readPullFiles(repository, pull, commitSha)
  const anchors = wish.comments.map(each => ({ anchor: findAnchor(files, each), body: each.body }))
  const errors = anchors.flatMap(({ anchor, body }) => (typeof anchor === 'string' ? [sentenceOf(anchor)] : commentTextErrors(body)))
  // GitHub says what is wrong once, however many comments it is wrong with, and never with which.
  if (errors.length > 0) return { kind: 'refused', errors: [...new Set(errors)] }
  const review = addReview(state, thread, { ...wish, commitSha })
  for (const { anchor, body } of anchors) if (typeof anchor !== 'string') addReviewComment(state, thread, review, { anchor, body })
  if (wish.event) publishReview(state, thread, review, wish.event)
  return { kind: 'made', review }
}

async function reviewError(thread: PullThread, wish: ReviewWish): Promise<string | null> {
  const { repository, issue, pull } = thread
  const { author, event, body, comments } = wish
  if (issue.locked && !wish.passesLock) return 'lock prevents review'
  if (author && findPending(repository, issue, author)) return 'User can only have one pending review per pull request'
  if (!(await isOfPull(thread, wish.commitId ?? pull.head.sha))) return 'The commitOID is not part of the pull request'
  return (event && eventError(issue, { author, event, body, comments: comments.length })) ?? textError(body)
}

/** Why this event may not be, or null. A review that asks or says something needs a word or a comment. */
export function eventError(
  issue: Issue,
  { author, event, body, comments }: { author: Account | null; event: ReviewEvent; body: string; comments: number },
): string | null {
  const own = author !== null && author.id === issue.author?.id
  if (own && event === 'APPROVE') return 'Can not approve your own pull request'
  if (own && event === 'REQUEST_CHANGES') return 'Can not request changes on your own pull request'
  if (event !== 'APPROVE' && body.trim() === '' && comments === 0) return "Body can't be blank"
  return null
}

export function textError(body: string): string | null {
  return characters(body) > bodyCharactersMax ? `Body is too long (maximum is ${bodyCharactersMax} characters)` : null
}

function commentTextErrors(body: string): string[] {
  const error = body.trim() === '' ? "Pull request review comment body can't be blank" : textError(body)
  return error ? [error] : []
}

async function isOfPull({ repository, pull }: PullThread, sha: string): Promise<boolean> {
  return sha === pull.head.sha || (await listPullCommits(repository, pull)).includes(sha)
}

export type CommentWish = Author & { body: string; id?: number | undefined }
export type MadeComment = { kind: 'made'; comment: ReviewComment } | { kind: 'refused'; problem: AnchorRefusal }

/** A comment by itself makes a review of its own with nothing else in it, as on GitHub. */
export async function makeReviewComment(
  state: GitHubState,
  thread: PullThread,
  wish: CommentWish & { at: AnchorWish; commitId?: string | undefined },
): Promise<MadeComment> {
  const { repository, pull } = thread
  const problem = speakProblem(thread, wish)
  if (problem) return { kind: 'refused', problem }
  const commitSha = wish.commitId ?? pull.head.sha
  if (!(await isOfPull(thread, commitSha))) return { kind: 'refused', problem: 'commit' }
  const anchor = findAnchor(await readPullFiles(repository, pull, commitSha), wish.at)
  if (typeof anchor === 'string') return { kind: 'refused', problem: anchor }
  return { kind: 'made', comment: speak(state, thread, wish, { anchor, commitSha }) }
}

/** So does a reply, which is where the thread is. */
export function makeReply(state: GitHubState, thread: PullThread, wish: CommentWish & { replyTo: ReviewComment }): MadeComment {
  const problem = speakProblem(thread, wish)
  if (problem) return { kind: 'refused', problem }
  const { path, subject, diffHunk, original, commitSha } = wish.replyTo
  return { kind: 'made', comment: speak(state, thread, wish, { anchor: { path, subject, diffHunk, place: original }, commitSha }) }
}

function speakProblem({ repository, issue }: PullThread, { author, passesLock }: Author): 'locked' | 'pending' | null {
  if (issue.locked && !passesLock) return 'locked'
  return author && findPending(repository, issue, author) ? 'pending' : null
}

function speak(
  state: GitHubState,
  thread: PullThread,
  wish: CommentWish & { replyTo?: ReviewComment },
  { anchor, commitSha }: { anchor: Anchor; commitSha: string },
): ReviewComment {
  const { author, byApp, body, id, replyTo } = wish
  const review = addReview(state, thread, { author, byApp, body: '', commitSha })
  const comment = addReviewComment(state, thread, review, { anchor, body, id, replyTo })
  publishReview(state, thread, review, 'COMMENT')
  return comment
}
