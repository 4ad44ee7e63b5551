import type { Links } from '../links.ts'
import type { Account, GitHubState, Token } from '../state.ts'
import { addReaction, removeReaction, resolveThread } from './mutations.ts'
import { findNode, findRepositoryThing, pullOf, threadsOf } from './things.ts'

/** Who asks, and what there is. */
export type Asked = { state: GitHubState; links: Links; token: Token; actor: Account }
/** An object of the graph. Fields without a resolver are read from it. */
export type Thing = { type: string; fields: Record<string, unknown> }
/** What GitHub answers 200 with, and null in the field's place. */
export type Problem = {
  problem: 'NOT_FOUND' | 'FORBIDDEN' | 'UNPROCESSABLE' | 'MISSING_PAGINATION_BOUNDARIES' | 'EXCESSIVE_PAGINATION'
  message: string
}
export type Arguments = Record<string, unknown>
export type Field = { type: string; args?: Record<string, string>; resolve?(thing: Thing, args: Arguments, asked: Asked): unknown }

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value
}

const pages = { first: 'Int', after: 'String', last: 'Int', before: 'String' }
const scalars = (type: string, ...names: string[]): Record<string, Field> => Object.fromEntries(names.map(name => [name, { type }]))

/** The part of GitHub's schema that is here: what is not in it is an error, as any misspelt field is there. */
export const types: Record<string, Record<string, Field>> = {
  Query: {
    repository: {
      type: 'Repository',
      args: { owner: 'String!', name: 'String!', followRenames: 'Boolean' },
      resolve: (_, args, asked) => findRepositoryThing(asked, `${args.owner}/${args.name}`),
    },
    node: { type: 'Node', args: { id: 'ID!' }, resolve: (_, { id }, asked) => findNode(asked, String(id)) },
  },
  Mutation: {
    resolveReviewThread: payloadOf('ResolveReviewThread', (asked, input) => resolveThread(asked, String(input.threadId), true)),
    unresolveReviewThread: payloadOf('UnresolveReviewThread', (asked, input) => resolveThread(asked, String(input.threadId), false)),
    addReaction: payloadOf('AddReaction', addReaction),
    removeReaction: payloadOf('RemoveReaction', removeReaction),
  },
  ResolveReviewThreadPayload: { thread: { type: 'PullRequestReviewThread' }, ...scalars('String', 'clientMutationId') },
  UnresolveReviewThreadPayload: { thread: { type: 'PullRequestReviewThread' }, ...scalars('String', 'clientMutationId') },
  AddReactionPayload: { reaction: { type: 'Reaction' }, subject: { type: 'Node' }, ...scalars('String', 'clientMutationId') },
  RemoveReactionPayload: { reaction: { type: 'Reaction' }, subject: { type: 'Node' }, ...scalars('String', 'clientMutationId') },
  Node: scalars('ID!', 'id'),
  Repository: {
    ...scalars('ID!', 'id'),
    ...scalars('Int', 'databaseId'),
    ...scalars('String!', 'name', 'nameWithOwner'),
    pullRequest: {
      type: 'PullRequest',
      args: { number: 'Int!' },
      resolve: (thing, { number }, asked) => pullOf(thing, Number(number), asked),
    },
  },
  PullRequest: {
    ...scalars('ID!', 'id'),
    ...scalars('Int!', 'number'),
    ...scalars('String!', 'title', 'state', 'headRefOid', 'headRefName', 'baseRefName', 'reviewDecision'),
    ...scalars('Boolean!', 'isDraft', 'isInMergeQueue', 'merged'),
    mergeQueueEntry: { type: 'MergeQueueEntry' },
    reviewThreads: {
      type: 'PullRequestReviewThreadConnection!',
      args: pages,
      resolve: (thing, args, asked) => threadsOf(thing, args, asked),
    },
  },
  MergeQueueEntry: { ...scalars('ID!', 'id'), ...scalars('Int!', 'position'), ...scalars('String!', 'state') },
  PullRequestReviewThreadConnection: connectionOf('PullRequestReviewThread'),
  PullRequestReviewThreadEdge: edgeOf('PullRequestReviewThread'),
  PullRequestReviewThread: {
    ...scalars('ID!', 'id'),
    ...scalars('Boolean!', 'isResolved', 'isOutdated', 'isCollapsed', 'viewerCanResolve', 'viewerCanUnresolve'),
    ...scalars('String!', 'path', 'diffSide', 'subjectType'),
    ...scalars('Int', 'line', 'originalLine', 'startLine', 'originalStartLine'),
    resolvedBy: { type: 'Actor' },
    comments: {
      type: 'PullRequestReviewCommentConnection!',
      args: pages,
      resolve: (thing, args) => (thing.fields.comments as (args: Arguments) => unknown)(args),
    },
  },
  PullRequestReviewCommentConnection: connectionOf('PullRequestReviewComment'),
  PullRequestReviewCommentEdge: edgeOf('PullRequestReviewComment'),
  PullRequestReviewComment: {
    ...scalars('ID!', 'id'),
    ...scalars('Int', 'databaseId'),
    ...scalars('String!', 'body', 'path', 'createdAt', 'url', 'fullDatabaseId'),
    author: { type: 'Actor' },
    pullRequestReview: { type: 'PullRequestReview' },
  },
  PullRequestReview: {
    ...scalars('ID!', 'id'),
    ...scalars('Int', 'databaseId'),
    ...scalars('String!', 'body', 'state'),
    author: { type: 'Actor' },
  },
  Issue: { ...scalars('ID!', 'id'), ...scalars('Int!', 'number') },
  IssueComment: { ...scalars('ID!', 'id'), ...scalars('Int', 'databaseId') },
  Actor: scalars('String!', 'login'),
  User: scalars('String!', 'login'),
  Bot: scalars('String!', 'login'),
  Organization: scalars('String!', 'login'),
  Mannequin: scalars('String!', 'login'),
  Reaction: { ...scalars('ID!', 'id'), ...scalars('Int', 'databaseId'), ...scalars('String!', 'content') },
  PageInfo: { ...scalars('Boolean!', 'hasNextPage', 'hasPreviousPage'), ...scalars('String', 'startCursor', 'endCursor') },
}

/** Input objects, by field. */
export const inputs: Record<string, Record<string, string>> = {
  ResolveReviewThreadInput: { threadId: 'ID!', clientMutationId: 'String' },
  UnresolveReviewThreadInput: { threadId: 'ID!', clientMutationId: 'String' },
  AddReactionInput: { subjectId: 'ID!', content: 'ReactionContent!', clientMutationId: 'String' },
  RemoveReactionInput: { subjectId: 'ID!', content: 'ReactionContent!', clientMutationId: 'String' },
}

function connectionOf(type: string): Record<string, Field> {
  return {
    nodes: { type: `[${type}]` },
    edges: { type: `[${type}Edge]` },
    pageInfo: { type: 'PageInfo!' },
    ...scalars('Int!', 'totalCount'),
  }
}

function edgeOf(type: string): Record<string, Field> {
  return { node: { type }, ...scalars('String!', 'cursor') }
}

function payloadOf(name: string, act: (asked: Asked, input: Arguments) => Problem | Record<string, unknown>): Field {
  return {
    type: `${name}Payload`,
    args: { input: `${name}Input!` },
    resolve: (_, args, asked) => {
      const input = args.input as Arguments
      const done = act(asked, input)
      return isProblem(done)
        ? done
        : ({ type: `${name}Payload`, fields: { ...done, clientMutationId: input.clientMutationId ?? null } } satisfies Thing)
    },
  }
}
