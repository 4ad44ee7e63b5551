import type { FakeGitHub } from '../../simulator/index.ts'

export type Values = Record<string, string | number>
export type Play = {
  status: number
  /** The installation's token where nothing is said. */
  as?: 'app' | 'person' | 'spare'
  query?: string
  body?: object | ((values: Values) => object)
  /** What the row needs of its own, beside the values all rows share. */
  make?(github: FakeGitHub, values: Values): Values | Promise<Values>
}

export const repo = 'octo/hello'
const repository = '/repos/{owner}/{repo}'
const on = (values: Values) => ({ repo, number: Number(values.pull_number) })
const inline = { path: 'a.ts', line: 1 }

/** What every row can name. */
export async function makeWorld(github: FakeGitHub): Promise<Values> {
  await github.addRepository({ owner: 'octo', name: 'hello', defaultBranch: 'trunk' })
  await github.addRepository({ owner: 'acme', name: 'tool', ownerType: 'Organization' })
  for (const [login, role] of [['maria', 'write'] as const, ['ann', 'read'] as const]) github.setPermission(repo, login, role)
  const from = (await github.refs(repo))['refs/heads/trunk'] ?? ''
  const head = await github.commit({ repo, branch: 'topic', files: { 'a.ts': 'a\nb\n', link: { content: 'a.ts', mode: '120000' } }, from })
  await github.commit({ repo, branch: 'second', files: { 'b.ts': 'b\n' }, from })
  github.protectBranch(repo, 'kept', { requiredChecks: ['test'], requireSignatures: true })
  github.addRuleset(repo, { branches: ['*'], rules: ['non_fast_forward'] })
  const issue = github.openIssue({ repo, author: 'maria', title: 'It is broken', body: 'Really' })
  const pull = await github.openPull({ repo, author: 'maria', title: 'Mend it', head: 'topic' })
  const comment = github.comment({ repo, number: issue.number, author: 'maria', body: '/grok fix' })
  const delivery = await github.deliver({
    event: 'issue_comment',
    payload: github.payload.issueComment('created', { repo, commentId: comment.id }),
    to: github.webUrl,
  })
  return {
    owner: 'octo',
    repo: 'hello',
    org: 'acme',
    username: 'octo',
    installation_id: github.installation('octo').id,
    issue_number: issue.number,
    pull_number: pull.number,
    comment_id: comment.id,
    commit_sha: head,
    ref: 'heads/topic',
    branch: 'topic',
    basehead: 'trunk...topic',
    path: 'a.ts',
    delivery_id: delivery.id,
  }
}

export const appPlays: Readonly<Record<string, Play>> = {
  'GET /app': { status: 200, as: 'app' },
  'GET /app/installations': { status: 200, as: 'app', query: 'per_page=1&page=2' },
  'GET /app/installations/{installation_id}': { status: 200, as: 'app' },
  [`GET ${repository}/installation`]: { status: 200, as: 'app' },
  'GET /users/{username}/installation': { status: 200, as: 'app' },
  'GET /orgs/{org}/installation': { status: 200, as: 'app' },
  'POST /app/installations/{installation_id}/access_tokens': {
    status: 201,
    as: 'app',
    body: { repositories: ['hello'], permissions: { issues: 'write' } },
  },
  'GET /installation/repositories': { status: 200 },
  'DELETE /installation/token': { status: 204, as: 'spare' },
  'GET /meta': { status: 200 },
  'GET /rate_limit': { status: 200 },
  'GET /user': { status: 200, as: 'person' },
  'GET /users/{username}': { status: 200 },
  'GET /orgs/{org}': { status: 200 },
  'GET /app/hook/deliveries': { status: 200, as: 'app', query: 'status=failure' },
  'GET /app/hook/deliveries/{delivery_id}': { status: 200, as: 'app' },
  'POST /app/hook/deliveries/{delivery_id}/attempts': { status: 202, as: 'app' },
  'POST /graphql': {
    status: 200,
    body: { query: 'query($o: String!, $n: String!) { repository(owner: $o, name: $n) { id } }', variables: { o: 'octo', n: 'hello' } },
  },
}

const aComment = (github: FakeGitHub, values: Values) => ({
  comment_id: github.comment({ repo, number: Number(values.issue_number), author: 'grokbot[bot]', body: 'Working' }).id,
})
const aReaction = { body: { content: 'eyes' } }

export const threadPlays: Readonly<Record<string, Play>> = {
  [`GET ${repository}`]: { status: 200 },
  [`GET ${repository}/collaborators`]: { status: 200 },
  [`GET ${repository}/collaborators/{username}/permission`]: { status: 200, make: () => ({ username: 'maria' }) },
  [`GET ${repository}/collaborators/{username}`]: { status: 204, make: () => ({ username: 'maria' }) },
  [`GET ${repository}/issues`]: { status: 200, query: 'state=all&sort=updated&direction=asc' },
  [`POST ${repository}/issues`]: { status: 201, body: { title: 'New', body: 'Text', labels: ['bug'] } },
  [`GET ${repository}/issues/{issue_number}`]: { status: 200 },
  [`PATCH ${repository}/issues/{issue_number}`]: { status: 200, body: { state: 'closed', state_reason: 'completed' } },
  [`GET ${repository}/issues/{issue_number}/comments`]: { status: 200, query: 'since=2024-01-01T00:00:00Z' },
  [`GET ${repository}/issues/comments`]: { status: 200, query: 'sort=created&direction=desc' },
  [`POST ${repository}/issues/{issue_number}/comments`]: { status: 201, body: { body: 'Working' } },
  [`GET ${repository}/issues/comments/{comment_id}`]: { status: 200 },
  [`PATCH ${repository}/issues/comments/{comment_id}`]: { status: 200, make: aComment, body: { body: 'Done' } },
  [`DELETE ${repository}/issues/comments/{comment_id}`]: { status: 204, make: aComment },
  ...reactionPlays('issues/comments/{comment_id}', () => ({})),
  ...reactionPlays('pulls/comments/{comment_id}', aReviewComment),
  ...reactionPlays('issues/{issue_number}', () => ({})),
  [`GET ${repository}/labels`]: { status: 200 },
  [`POST ${repository}/labels`]: { status: 201, body: { name: 'made', color: 'ff0000', description: 'Red' } },
  [`GET ${repository}/labels/{name}`]: { status: 200, make: () => ({ name: 'made' }) },
  [`GET ${repository}/issues/{issue_number}/labels`]: { status: 200 },
  [`POST ${repository}/issues/{issue_number}/labels`]: { status: 200, body: { labels: ['bug'] } },
  [`PUT ${repository}/issues/{issue_number}/labels`]: { status: 200, body: { labels: ['bug', 'made'] } },
  [`DELETE ${repository}/issues/{issue_number}/labels/{name}`]: { status: 200, make: () => ({ name: 'made' }) },
  [`DELETE ${repository}/issues/{issue_number}/labels`]: { status: 204 },
}

function reactionPlays(thing: string, make: NonNullable<Play['make']>): Record<string, Play> {
  const at = `${repository}/${thing}/reactions`
  const reacted = async (github: FakeGitHub, values: Values) => {
    const own = await make(github, values)
    const path = fill(at, { ...values, ...own })
    const answer = await fetch(`${github.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${values.token}`, 'user-agent': 'test' },
      body: JSON.stringify({ content: 'heart' }),
    })
    return { ...own, reaction_id: ((await answer.json()) as { id: number }).id }
  }
  return {
    [`GET ${at}`]: { status: 200, make: reacted, query: 'content=heart' },
    [`POST ${at}`]: { status: 201, make, ...aReaction },
    [`DELETE ${at}/{reaction_id}`]: { status: 204, make: reacted },
  }
}

export function fill(path: string, values: Values): string {
  return path.replace(/\{(\w+)\+?\}/g, (_, name: string) => String(values[name]))
}

async function aReviewComment(github: FakeGitHub, values: Values): Promise<Values> {
  return { comment_id: (await github.reviewComment({ ...on(values), author: 'ann', body: 'Why?', ...inline })).id }
}

const review = (event: 'APPROVE' | 'COMMENT' | null, author: string) => async (github: FakeGitHub, values: Values) => ({
  review_id: (await github.review({ ...on(values), author, body: 'Seen', event, comments: [{ ...inline, body: 'Here' }] })).id,
})
const pulls = `${repository}/pulls`
const reviews = `${pulls}/{pull_number}/reviews`

export const pullPlays: Readonly<Record<string, Play>> = {
  [`GET ${pulls}/{pull_number}/requested_reviewers`]: { status: 200 },
  [`POST ${pulls}/{pull_number}/requested_reviewers`]: { status: 201, body: { reviewers: ['ann'] } },
  [`DELETE ${pulls}/{pull_number}/requested_reviewers`]: { status: 200, body: { reviewers: ['ann'] } },
  [`GET ${pulls}/{pull_number}/comments`]: { status: 200, make: aReviewComment },
  [`GET ${pulls}/comments`]: { status: 200, query: 'sort=created&direction=desc' },
  [`POST ${pulls}/{pull_number}/comments`]: {
    status: 201,
    body: values => ({ body: 'Here', commit_id: values.commit_sha, side: 'RIGHT', ...inline }),
  },
  [`POST ${pulls}/{pull_number}/comments/{comment_id}/replies`]: { status: 201, make: aReviewComment, body: { body: 'So' } },
  [`GET ${pulls}/comments/{comment_id}`]: { status: 200, make: aReviewComment },
  [`PATCH ${pulls}/comments/{comment_id}`]: { status: 200, make: aReviewComment, body: { body: 'Thus' } },
  [`DELETE ${pulls}/comments/{comment_id}`]: { status: 204, make: aReviewComment },
  [`GET ${reviews}`]: { status: 200, make: review('COMMENT', 'ann') },
  [`POST ${reviews}`]: { status: 200, body: { event: 'COMMENT', body: 'Seen', comments: [{ ...inline, body: 'Here' }] } },
  [`GET ${reviews}/{review_id}`]: { status: 200, make: review('COMMENT', 'ann') },
  [`PUT ${reviews}/{review_id}`]: { status: 200, make: review('COMMENT', 'grokbot[bot]'), body: { body: 'Seen again' } },
  [`DELETE ${reviews}/{review_id}`]: { status: 200, make: review(null, 'grokbot[bot]') },
  [`GET ${reviews}/{review_id}/comments`]: { status: 200, make: review('COMMENT', 'ann') },
  [`POST ${reviews}/{review_id}/events`]: { status: 200, make: review(null, 'grokbot[bot]'), body: { event: 'COMMENT', body: 'Seen' } },
  [`PUT ${reviews}/{review_id}/dismissals`]: { status: 200, make: review('APPROVE', 'ann'), body: { message: 'Too old' } },
  [`GET ${pulls}`]: { status: 200, query: 'state=open&head=octo:topic&per_page=5' },
  [`POST ${pulls}`]: { status: 201, body: { title: 'Second', head: 'second', base: 'trunk', body: 'Text', draft: true } },
  [`GET ${pulls}/{pull_number}`]: { status: 200 },
  [`PATCH ${pulls}/{pull_number}`]: { status: 200, body: { title: 'Mend it well', state: 'open' } },
  [`GET ${pulls}/{pull_number}/files`]: { status: 200 },
  [`GET ${pulls}/{pull_number}/commits`]: { status: 200 },
}

const treeOf = async (github: FakeGitHub, { commit_sha }: Values) => {
  const answer = await fetch(`${github.url}/repos/${repo}/git/commits/${commit_sha}`, {
    headers: { authorization: `Bearer ${github.userToken('maria')}`, 'user-agent': 'test' },
  })
  return { tree_sha: ((await answer.json()) as { tree: { sha: string } }).tree.sha }
}
const aRun = (github: FakeGitHub, values: Values) => {
  const made = github.state.repositories.get(repo)?.checkRuns.keys().next().value
  return { check_run_id: made ?? 0, ref: values.commit_sha ?? '' }
}
const output = {
  title: 'One finding',
  summary: 'In a.ts',
  annotations: [{ path: 'a.ts', start_line: 1, end_line: 1, annotation_level: 'warning', message: 'Odd' }],
}

export const codePlays: Readonly<Record<string, Play>> = {
  [`POST ${repository}/git/blobs`]: { status: 201, body: { content: 'one\n', encoding: 'utf-8' } },
  [`GET ${repository}/git/blobs/{file_sha}`]: { status: 200, make: () => ({ file_sha: '5626abf0f72e58d7a153368ba57db4c673c0e171' }) },
  [`POST ${repository}/git/trees`]: {
    status: 201,
    make: treeOf,
    body: values => ({ base_tree: values.tree_sha, tree: [{ path: 'c.ts', mode: '100644', type: 'blob', content: 'c\n' }] }),
  },
  [`GET ${repository}/git/trees/{tree_sha}`]: { status: 200, make: treeOf, query: 'recursive=1' },
  [`POST ${repository}/git/commits`]: {
    status: 201,
    make: treeOf,
    body: values => ({ message: 'Made', tree: values.tree_sha, parents: [values.commit_sha] }),
  },
  [`GET ${repository}/git/commits/{commit_sha}`]: { status: 200 },
  [`GET ${repository}/git/ref/{ref+}`]: { status: 200 },
  [`GET ${repository}/git/matching-refs/{ref+}`]: { status: 200, make: () => ({ ref: 'heads/' }) },
  [`POST ${repository}/git/refs`]: { status: 201, body: values => ({ ref: 'refs/heads/made', sha: values.commit_sha }) },
  [`PATCH ${repository}/git/refs/{ref+}`]: {
    status: 200,
    make: () => ({ ref: 'heads/made' }),
    body: values => ({ sha: values.commit_sha, force: false }),
  },
  [`DELETE ${repository}/git/refs/{ref+}`]: { status: 204, make: () => ({ ref: 'heads/made' }) },
  [`GET ${repository}/branches`]: { status: 200 },
  [`GET ${repository}/branches/{branch+}/protection`]: { status: 200, make: () => ({ branch: 'kept' }) },
  [`GET ${repository}/rules/branches/{branch+}`]: { status: 200 },
  [`GET ${repository}/branches/{branch+}`]: { status: 200 },
  [`POST ${repository}/check-runs`]: {
    status: 201,
    body: values => ({ name: 'grok', head_sha: values.commit_sha, status: 'in_progress', output }),
  },
  [`PATCH ${repository}/check-runs/{check_run_id}`]: {
    status: 200,
    make: aRun,
    body: { conclusion: 'success', status: 'completed', output },
  },
  [`GET ${repository}/check-runs/{check_run_id}`]: { status: 200, make: aRun },
  [`GET ${repository}/check-runs/{check_run_id}/annotations`]: { status: 200, make: aRun },
  [`GET ${repository}/commits/{ref+}/check-runs`]: { status: 200, make: aRun, query: 'filter=all&status=completed' },
  [`GET ${repository}/compare/{basehead+}`]: { status: 200 },
  [`GET ${repository}/contents/{path+}`]: { status: 200, query: 'ref=topic' },
  [`GET ${repository}/contents`]: { status: 200, query: 'ref=topic' },
  [`GET ${repository}/commits/{ref+}`]: { status: 200, make: () => ({ ref: 'topic' }) },
  [`PUT ${repository}/contents/{path+}`]: {
    status: 201,
    make: () => ({ path: 'd.ts' }),
    body: { message: 'Write', content: 'ZAo=', branch: 'second' },
  },
}
