import type { Octokit } from '@octokit/rest'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Review, ReviewComment } from '../../simulator/github/state.ts'
import { mint, octokit, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const repo = 'octo/hello'
let octo: Octokit
let token: string
let number: number

beforeAll(async () => {
  const { github } = fixture
  token = await mint(github, 'octo')
  octo = octokit(github, token)
  const from = (await github.refs(repo))['refs/heads/trunk'] ?? ''
  await github.commit({ repo, branch: 'topic', files: { 'a.ts': 'one\ntwo\nthree\n' }, from })
  number = (await github.openPull({ repo, author: 'maria', title: 'Pull', head: 'topic' })).number
})

type Answer = { data?: Record<string, never>; errors?: Record<string, unknown>[] }

async function ask(query: string, variables: object = {}, as = token): Promise<Answer & { status: number }> {
  const response = await fetch(`${fixture.github.webUrl}/api/graphql`, {
    method: 'POST',
    headers: { 'user-agent': 't', authorization: `bearer ${as}` },
    body: JSON.stringify({ query, variables }),
  })
  return { ...((await response.json()) as Answer), status: response.status }
}

const threads = `query Threads($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewThreads(first: 2, after: $after) {
        totalCount
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved isOutdated path line comments(first: 10) { nodes { databaseId author { login __typename } body } } }
      }
    }
  }
}`
type Thread = { id: string; isResolved: boolean; isOutdated: boolean; line: number | null; comments: { nodes: object[] } }
type Page = { totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string }; nodes: Thread[] }
type PullAnswer = { repository: { pullRequest: { reviewThreads: Page } } }

describe('review threads', () => {
  let said: ReviewComment[]

  beforeAll(async () => {
    const { github } = fixture
    const comments = [1, 2, 3].map(line => ({ path: 'a.ts', line, body: `about ${line}` }))
    await github.review({ repo, number, author: 'grokbot[bot]', body: 'Three', comments })
    said = [...(github.state.repositories.get(repo)?.reviewComments.values() ?? [])]
    github.replyToReviewComment({ repo, commentId: said[0]?.id ?? 0, author: 'maria', body: 'So?' })
    await github.review({ repo, number, author: 'maria', body: '', comments: [{ path: 'a.ts', line: 1, body: 'hidden' }], event: null })
  })

  const read = async (after?: string) => {
    const found = await octo.graphql<PullAnswer>(threads, { owner: 'octo', repo: 'hello', number, ...(after ? { after } : {}) })
    return found.repository.pullRequest.reviewThreads
  }

  test('come in pages with their comments, and the App goes by its bare name', async () => {
    const first = await read()
    expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } })
    expect(first.nodes[0]).toEqual({
      id: expect.stringMatching(/^PRRT_/),
      isResolved: false,
      isOutdated: false,
      path: 'a.ts',
      line: 1,
      comments: {
        nodes: [
          { databaseId: said[0]?.id, author: { login: 'grokbot', __typename: 'Bot' }, body: 'about 1' },
          { databaseId: expect.any(Number), author: { login: 'maria', __typename: 'User' }, body: 'So?' },
        ],
      },
    })
    const second = await read(first.pageInfo.endCursor)
    expect([second.nodes.map(each => each.line), second.pageInfo.hasNextPage]).toEqual([[3], false])
  })

  const resolve = 'mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id isResolved resolvedBy { login } } } }'
  const unresolve = 'mutation($id: ID!) { unresolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }'

  test('are resolved and opened again, by an App only if it may write contents too', async () => {
    const id = (await read()).nodes[0]?.id
    const narrow = await mint(fixture.github, 'octo', { permissions: { pull_requests: 'write', contents: 'read' } })
    expect(await ask(resolve, { id }, narrow)).toEqual({
      status: 200,
      data: { resolveReviewThread: null },
      errors: [
        {
          type: 'FORBIDDEN',
          path: ['resolveReviewThread'],
          locations: [{ line: 1, column: 22 }],
          message: 'Resource not accessible by integration',
        },
      ],
    })
    expect((await ask(resolve, { id })).data).toEqual({
      resolveReviewThread: { thread: { id, isResolved: true, resolvedBy: { login: 'grokbot' } } },
    })
    expect((await read()).nodes[0]?.isResolved).toBe(true)
    expect((await ask(unresolve, { id })).data).toEqual({ unresolveReviewThread: { thread: { isResolved: false } } })
    fixture.github.addUser({ login: 'walter' })
    expect((await ask(resolve, { id }, fixture.github.userToken('walter'))).errors).toMatchObject([
      { type: 'FORBIDDEN', message: 'walter does not have the correct permissions to execute `ResolveReviewThread`' },
    ])
    fixture.github.resolveThread({ repo, commentId: said[0]?.id ?? 0, by: 'maria' })
    expect((await read()).nodes[0]?.isResolved).toBe(true)
  })

  test('of an outdated line have none, and a thread of nobody is not found', async () => {
    await fixture.github.commit({ repo, branch: 'topic', files: { 'a.ts': 'one\n2\nthree\n' } })
    const { nodes } = await read()
    expect(nodes.map(each => [each.isOutdated, each.line])).toEqual([
      [false, 1],
      [true, null],
    ])
    for (const id of ['PRRT_nonsense', '4711', String(said[0]?.id)]) {
      expect(await ask(resolve, { id })).toMatchObject({
        status: 200,
        data: { resolveReviewThread: null },
        errors: [{ type: 'NOT_FOUND', message: `Could not resolve to a node with the global id of '${id}'` }],
      })
    }
  })
})

test('the merge queue and the decision of the reviews are read with the pull request', async () => {
  const { github } = fixture
  const query = `{ repository(owner: "octo", name: "hello") { pullRequest(number: ${number}) {
    state isInMergeQueue mergeQueueEntry { id position state } reviewDecision } } }`
  const read = async () => ((await ask(query)).data as unknown as { repository: { pullRequest: object } }).repository.pullRequest
  expect(await read()).toEqual({ state: 'OPEN', isInMergeQueue: false, mergeQueueEntry: null, reviewDecision: null })
  github.setMergeQueue({ repo, number, entry: { position: 3, state: 'AWAITING_CHECKS' } })
  await github.review({ repo, number, author: 'octo', event: 'REQUEST_CHANGES', body: 'No' })
  expect(await read()).toMatchObject({
    isInMergeQueue: true,
    mergeQueueEntry: { id: expect.stringMatching(/^MQE_/), position: 3, state: 'AWAITING_CHECKS' },
    reviewDecision: 'CHANGES_REQUESTED',
  })
  github.setMergeQueue({ repo, number, entry: null })
  await github.review({ repo, number, author: 'octo', event: 'APPROVE' })
  expect(await read()).toMatchObject({ isInMergeQueue: false, reviewDecision: 'APPROVED' })
})

describe('reactions', () => {
  let review: Review
  const add =
    'mutation($id: ID!, $content: ReactionContent!) { addReaction(input: {subjectId: $id, content: $content}) { reaction { content databaseId } subject { __typename id } } }'

  beforeEach(async () => {
    review = await fixture.github.review({ repo, number, author: 'octo', body: '/grok fix' })
  })

  const idOf = async () =>
    (await octo.rest.pulls.getReview({ owner: 'octo', repo: 'hello', pull_number: number, review_id: review.id })).data.node_id

  test('are put on a review as a whole by its node id of the REST API, once', async () => {
    const id = await idOf()
    const first = await ask(add, { id, content: 'EYES' })
    expect(first.data).toEqual({
      addReaction: { reaction: { content: 'EYES', databaseId: expect.any(Number) }, subject: { __typename: 'PullRequestReview', id } },
    })
    expect((await ask(add, { id, content: 'EYES' })).data).toEqual(first.data)
    expect(review.reactions.map(each => [each.content, each.actor.login])).toEqual([['eyes', 'grokbot[bot]']])
    const remove = 'mutation($id: ID!) { removeReaction(input: {subjectId: $id, content: EYES}) { reaction { content } } }'
    expect((await ask(remove, { id })).errors).toBeUndefined()
    expect(review.reactions).toEqual([])
  })

  test('are not for everybody, nor for what can not be reacted to', async () => {
    const id = await idOf()
    const reader = await mint(fixture.github, 'octo', { permissions: { pull_requests: 'read' } })
    expect(await ask(add, { id, content: 'EYES' }, reader)).toMatchObject({ status: 200, errors: [{ type: 'FORBIDDEN' }] })
    expect(await ask(add, { id, content: 'SHRUG' })).toMatchObject({
      errors: [{ message: 'Variable $content of type ReactionContent! was provided invalid value' }],
    })
    await fixture.github.addRepository({ owner: 'elsewhere', name: 'tool' })
    const stranger = await mint(fixture.github, 'elsewhere')
    expect((await ask(add, { id, content: 'EYES' }, stranger)).errors).toMatchObject([{ type: 'NOT_FOUND' }])
    const repository = '{ repository(owner: "octo", name: "hello") { id } }'
    expect((await ask(repository, {}, stranger)).errors).toMatchObject([{ type: 'NOT_FOUND', path: ['repository'] }])
  })
})

describe('what is asked for and is not there', () => {
  const pull = (inner: string) => `{ repository(owner: "octo", name: "hello") { pullRequest(number: ${number}) { ${inner} } } }`

  test.each<[string, string | (() => string), object]>([
    [
      'a repository',
      '{ repository(owner: "octo", name: "nowhere") { id } }',
      { type: 'NOT_FOUND', path: ['repository'], message: "Could not resolve to a Repository with the name 'octo/nowhere'." },
    ],
    [
      'a pull request',
      '{ repository(owner: "octo", name: "hello") { pullRequest(number: 999) { id } } }',
      { type: 'NOT_FOUND', path: ['repository', 'pullRequest'], message: 'Could not resolve to a PullRequest with the number of 999.' },
    ],
    [
      'a field',
      () => pull('id mergeStatus'),
      {
        path: ['query', 'repository', 'pullRequest', 'mergeStatus'],
        extensions: { code: 'undefinedField', typeName: 'PullRequest', fieldName: 'mergeStatus' },
        locations: [{ line: 1, column: expect.any(Number) }],
        message: "Field 'mergeStatus' doesn't exist on type 'PullRequest'",
      },
    ],
    ['a number of threads', () => pull('reviewThreads { totalCount }'), { type: 'MISSING_PAGINATION_BOUNDARIES' }],
    [
      'so many threads',
      () => pull('reviewThreads(first: 101) { totalCount }'),
      {
        type: 'EXCESSIVE_PAGINATION',
        message: 'Requesting 101 records on the `reviewThreads` connection exceeds the `first` limit of 100 records.',
      },
    ],
    ['fields of a thing', () => pull('mergeQueueEntry'), { extensions: { code: 'selectionMismatch' } }],
    ['an argument', () => pull('id(x: 1)'), { extensions: { code: 'argumentNotAccepted', argumentName: 'x' } }],
    ['a needed argument', '{ repository(owner: "octo") { id } }', { extensions: { code: 'missingRequiredArguments', arguments: 'name' } }],
    [
      'a declared variable',
      '{ repository(owner: $o, name: "x") { id } }',
      { extensions: { code: 'variableNotDefined', variableName: 'o' } },
    ],
    ['a use of a variable', 'query Q($o: String!) { node(id: "x") { id } }', { extensions: { code: 'variableNotUsed' } }],
    [
      'a variable of that type',
      'query Q($n: Int!) { repository(owner: $n, name: "x") { id } }',
      { extensions: { code: 'variableMismatch' } },
    ],
    [
      'a value of a variable',
      'query Q($o: String!) { repository(owner: $o, name: "x") { id } }',
      { message: 'Variable $o of type String! was provided invalid value' },
    ],
    [
      'a mutation',
      'mutation { mergePullRequest(input: {}) { clientMutationId } }',
      { extensions: { code: 'undefinedField', typeName: 'Mutation' } },
    ],
    ['an end', '{ repository(', { message: 'Unexpected end of document' }],
  ])('%s: the answer is 200 with an error', async (_, query, error) => {
    const answer = await ask(typeof query === 'string' ? query : query())
    expect(answer).toMatchObject({ status: 200, errors: [error] })
  })

  test('nothing is done where anything is wrong, and no query at all is 400', async () => {
    const review = await fixture.github.review({ repo, number, author: 'octo', body: 'x' })
    const { data } = await octo.rest.pulls.getReview({ owner: 'octo', repo: 'hello', pull_number: number, review_id: review.id })
    const mutation = `mutation { addReaction(input: {subjectId: "${data.node_id}", content: EYES}) { reaction { contents } } }`
    expect((await ask(mutation)).errors).toHaveLength(1)
    expect(review.reactions).toEqual([])
    const empty = await fetch(`${fixture.github.webUrl}/api/graphql`, {
      method: 'POST',
      headers: { 'user-agent': 't', authorization: `bearer ${token}` },
      body: '{}',
    })
    expect(empty.status).toBe(400)
  })

  test('aliases, fragments and a node by its id are understood', async () => {
    const query = `query Q($id: ID!) { it: node(id: $id) { ...Part ... on Repository { name } ... on PullRequest { number } } }
      fragment Part on Node { __typename id }`
    const { data } = await octo.rest.pulls.get({ owner: 'octo', repo: 'hello', pull_number: number })
    expect((await ask(query, { id: data.node_id })).data).toEqual({ it: { __typename: 'PullRequest', id: data.node_id, number } })
  })

  test('a spent limit is said within a 200, and who has no token is refused', async () => {
    fixture.github.fail({ route: 'POST /graphql', fault: { kind: 'primary-limit' } })
    expect(await ask('{ node(id: "x") { id } }')).toMatchObject({ status: 200, errors: [{ type: 'RATE_LIMITED' }] })
    expect((await ask('{ node(id: "x") { id } }', {}, 'ghs_wrong')).status).toBe(401)
  })
})
