import { nodeId, repositoryWeb, time } from '../links.ts'
import { atLeast, canSee, grants, roleOf } from '../permission.ts'
import { sees } from '../review.ts'
import {
  type Account,
  findRepository,
  fullName,
  type Issue,
  isListed,
  type Pull,
  type Reaction,
  type Repository,
  type Review,
  type ReviewComment,
} from '../state.ts'
import { paginateConnection } from './connection.ts'
import type { Arguments, Asked, Problem, Thing } from './types.ts'

export const inaccessible: Problem = { problem: 'FORBIDDEN', message: 'Resource not accessible by integration' }

export function findRepositoryThing(asked: Asked, name: string): Thing | Problem {
  const { state, token } = asked
  const repository = findRepository(state, name) ?? state.renamed.get(name.toLowerCase())
  if (!repository || !canSee(token, repository)) {
    return { problem: 'NOT_FOUND', message: `Could not resolve to a Repository with the name '${name}'.` }
  }
  const fields = {
    id: nodeId('R', repository.id),
    databaseId: repository.id,
    name: repository.name,
    nameWithOwner: fullName(repository),
    repository,
  }
  return { type: 'Repository', fields }
}

export function pullOf(thing: Thing, number: number, { token }: Asked): Thing | Problem {
  const repository = thing.fields.repository as Repository
  if (token.kind === 'installation' && !grants(token.permissions, 'pull_requests', 'read')) return inaccessible
  const issue = repository.issues.get(number)
  if (!issue?.pull) return { problem: 'NOT_FOUND', message: `Could not resolve to a PullRequest with the number of ${number}.` }
  return pullThing(repository, issue, issue.pull)
}

function pullThing(repository: Repository, issue: Issue, pull: Pull): Thing {
  const { mergeQueueEntry: entry } = pull
  const fields = {
    id: nodeId('PR', pull.id),
    number: issue.number,
    title: issue.title,
    state: pull.merged ? 'MERGED' : issue.state.toUpperCase(),
    merged: pull.merged,
    isDraft: pull.draft,
    headRefOid: pull.head.sha,
    headRefName: pull.head.ref,
    baseRefName: pull.base.ref,
    isInMergeQueue: entry !== null,
    mergeQueueEntry: entry && { type: 'MergeQueueEntry', fields: { ...entry, id: nodeId('MQE', entry.id) } },
    reviewDecision: decisionOf(repository, issue, pull),
    repository,
    issue,
  }
  return { type: 'PullRequest', fields }
}

/** Where no review is required GitHub has no decision, unless somebody asked for changes or approved. */
function decisionOf(repository: Repository, issue: Issue, pull: Pull): string | null {
  const latest = new Map<number, Review>()
  for (const review of repository.reviews.values()) {
    const decides = review.state === 'APPROVED' || review.state === 'CHANGES_REQUESTED' || review.state === 'DISMISSED'
    if (review.issueNumber === issue.number && review.author && decides) latest.set(review.author.id, review)
  }
  const states = [...latest.values()].map(each => each.state)
  if (states.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED'
  if (states.includes('APPROVED')) return 'APPROVED'
  return repository.protections.get(pull.base.ref)?.requirePullRequest ? 'REVIEW_REQUIRED' : null
}

export function threadsOf(thing: Thing, args: Arguments, asked: Asked): Thing | Problem {
  const { repository, issue } = thing.fields as { repository: Repository; issue: Issue }
  const roots = [...repository.reviewComments.values()].filter(
    each => each.issueNumber === issue.number && each.inReplyTo === null && isSeen(asked, repository, each),
  )
  return paginateConnection(
    'reviewThreads',
    'PullRequestReviewThread',
    args,
    roots.map(root => threadThing(asked, repository, root)),
  )
}

function isSeen({ state, actor }: Asked, repository: Repository, comment: ReviewComment): boolean {
  return sees(actor, repository.reviews.get(comment.reviewId)) && isListed(state, comment.createdAt)
}

export function threadThing(asked: Asked, repository: Repository, root: ReviewComment): Thing {
  const comments = [...repository.reviewComments.values()].filter(
    each => (each.id === root.id || each.inReplyTo === root.id) && isSeen(asked, repository, each),
  )
  const ofLine = root.subject === 'line'
  const may = mayResolve(asked, repository, root)
  const fields = {
    id: nodeId('PRRT', root.id),
    isResolved: root.resolvedBy !== null,
    isOutdated: root.place === null,
    isCollapsed: root.resolvedBy !== null || root.place === null,
    viewerCanResolve: may && root.resolvedBy === null,
    viewerCanUnresolve: may && root.resolvedBy !== null,
    path: root.path,
    diffSide: root.original.side,
    subjectType: root.subject.toUpperCase(),
    line: ofLine ? (root.place?.line ?? null) : null,
    originalLine: ofLine ? root.original.line : null,
    startLine: ofLine ? (root.place?.startLine ?? null) : null,
    originalStartLine: ofLine ? root.original.startLine : null,
    resolvedBy: actorThing(root.resolvedBy),
    comments: (args: Arguments) => {
      const things = comments.map(each => commentThing(asked, repository, each))
      return paginateConnection('comments', 'PullRequestReviewComment', args, things)
    },
  }
  return { type: 'PullRequestReviewThread', fields }
}

/** An App needs to be able to write contents for this, and not pull requests alone, though no content is written. */
export function mayResolve({ token }: Asked, repository: Repository, root: ReviewComment): boolean {
  if (token.kind === 'installation')
    return grants(token.permissions, 'pull_requests', 'write') && grants(token.permissions, 'contents', 'write')
  const author = repository.issues.get(root.issueNumber)?.author
  return author?.id === token.actor.id || atLeast(roleOf(repository, token.actor), 'write')
}

function commentThing({ links }: Asked, repository: Repository, comment: ReviewComment): Thing {
  const review = repository.reviews.get(comment.reviewId)
  const fields = {
    id: nodeId('PRRC', comment.id),
    databaseId: comment.id,
    fullDatabaseId: String(comment.id),
    body: comment.body,
    path: comment.path,
    createdAt: time(comment.createdAt),
    url: `${repositoryWeb(links, repository)}/pull/${comment.issueNumber}#discussion_r${comment.id}`,
    author: actorThing(comment.author),
    pullRequestReview: review ? reviewThing(review) : null,
  }
  return { type: 'PullRequestReviewComment', fields }
}

function reviewThing(review: Review): Thing {
  const { id, body, state, author } = review
  return { type: 'PullRequestReview', fields: { id: nodeId('PRR', id), databaseId: id, body, state, author: actorThing(author) } }
}

/** Here an App goes by its name alone: the REST API's `[bot]` is not part of it. */
function actorThing(account: Account | null): Thing | null {
  return account && { type: account.type, fields: { login: account.login.replace(/\[bot\]$/, '') } }
}

export function reactionThing({ id }: Reaction, content: string): Thing {
  return { type: 'Reaction', fields: { id: nodeId('REA', id), databaseId: id, content } }
}

/** What a node id names, where it is, and its reactions; null when there is no such thing, or none this token sees. */
export type Node = { thing: Thing; repository: Repository; issue: Issue; reactions: Reaction[] | null; root: ReviewComment | null }

export function locateNode(asked: Asked, id: string): Node | null {
  const { state, token } = asked
  for (const repository of state.repositories.values()) {
    const node = canSee(token, repository) ? nodesOf(asked, repository, id) : null
    if (node) return node
  }
  return null
}

function nodesOf(asked: Asked, repository: Repository, id: string): Node | null {
  const [prefix = '', number = ''] = Buffer.from(id.slice(id.indexOf('_') + 1), 'base64url')
    .toString()
    .split(':')
  if (nodeId(prefix, Number(number)) !== id) return null
  const at = (
    part: { issueNumber: number },
    thing: Thing,
    reactions: Reaction[] | null,
    root: ReviewComment | null = null,
  ): Node | null => {
    const issue = repository.issues.get(part.issueNumber)
    return issue ? { thing, repository, issue, reactions, root } : null
  }
  const comment = repository.reviewComments.get(Number(number))
  const review = repository.reviews.get(Number(number))
  switch (prefix) {
    case 'PRRT':
      return comment?.inReplyTo === null ? at(comment, threadThing(asked, repository, comment), null, comment) : null
    case 'PRRC':
      return comment ? at(comment, commentThing(asked, repository, comment), comment.reactions) : null
    case 'PRR':
      return review && sees(asked.actor, review) ? at(review, reviewThing(review), review.reactions) : null
    case 'IC': {
      const said = repository.comments.get(Number(number))
      return said ? at(said, { type: 'IssueComment', fields: { id, databaseId: said.id } }, said.reactions) : null
    }
    default:
      return ofThread(repository, prefix, Number(number), id)
  }
}

function ofThread(repository: Repository, prefix: string, number: number, id: string): Node | null {
  for (const issue of repository.issues.values()) {
    const { pull, reactions } = issue
    const common = { repository, issue, reactions, root: null }
    if (prefix === 'PR' && pull?.id === number) return { thing: pullThing(repository, issue, pull), ...common }
    if (prefix === 'I' && !pull && issue.id === number) return { thing: { type: 'Issue', fields: { id, number: issue.number } }, ...common }
  }
  return null
}

export function findNode(asked: Asked, id: string): Thing | Problem {
  return locateNode(asked, id)?.thing ?? noNode(id)
}

export function noNode(id: string): Problem {
  return { problem: 'NOT_FOUND', message: `Could not resolve to a node with the global id of '${id}'` }
}
