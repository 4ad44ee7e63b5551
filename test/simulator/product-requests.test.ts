import type { Octokit } from '@octokit/rest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as github from '../../github/index.ts'
import type { Exchange } from '../../simulator/github/observe.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { exchangeFindings, requestFindings } from './official-description.ts'
import { makeWorld, repo, type Values } from './official-plays.ts'

/** What the product asks GitHub for, by each function of `github/`: the fake may forgive what GitHub's description does not. */
let simulator: Simulator
let world: Values
let api: Octokit
let asApp: Octokit
let app: github.GitHubApp
const sent: Exchange[] = []

beforeAll(async () => {
  simulator = await startSimulator()
  const fake = simulator.github
  world = await makeWorld(fake)
  app = github.createGitHubApp({ apiUrl: fake.url, appId: String(fake.appId), privateKey: fake.appPrivateKey, timeoutMs: 10_000 })
  const permissions = { contents: 'write', issues: 'write', pull_requests: 'write', checks: 'write' } as const
  const repositoryId = fake.state.repositories.get(repo)?.id ?? 0
  const { token } = await app.mint({ installationId: Number(world.installation_id), repositoryId, permissions })
  api = app.api(token)
  asApp = app.api(null)
  fake.observe(exchange => sent.push(exchange))
})
afterAll(async () => {
  await simulator?.github.webhooksSettled()
  await simulator?.close()
})

const name = { owner: 'octo', repo: 'hello' }
const since = '2024-01-01T00:00:00Z'
const run = (): github.NewCheckRun => ({
  name: 'grok',
  externalId: 't_1',
  headSha: String(world.commit_sha),
  status: 'in_progress',
  conclusion: null,
  title: 'Working',
  summary: 'On it',
  actions: [{ identifier: 'stop', label: 'Stop', description: 'Ends the task' }],
})
const pull = () => Number(world.pull_number)
const issue = () => Number(world.issue_number)
const onLine = async () =>
  (await simulator.github.reviewComment({ repo, number: pull(), author: 'ann', path: 'a.ts', line: 1, body: 'Why?' })).id

const treeSha = async () => (await api.rest.git.getCommit({ ...name, commit_sha: String(world.commit_sha) })).data.tree.sha

const calls: Record<string, () => Promise<unknown>> = {
  createGitHubApp: async () => {
    const fake = simulator.github
    const other = github.createGitHubApp({ apiUrl: fake.url, appId: String(fake.appId), privateKey: fake.appPrivateKey, timeoutMs: 10_000 })
    await other.identity()
    await other.mint({
      installationId: Number(world.installation_id),
      repositoryId: fake.state.repositories.get(repo)?.id ?? 0,
      permissions: { issues: 'write' },
    })
  },
  createCheckRun: () => github.createCheckRun(api, name, run()),
  findCheckRun: () => github.findCheckRun(api, name, run()),
  updateCheckRun: async () => {
    const { id } = await github.createCheckRun(api, name, run())
    for (const conclusion of ['success', 'failure', 'neutral', 'cancelled', 'timed_out', 'action_required'] as const)
      await github.updateCheckRun(api, name, id, { ...run(), status: 'completed', conclusion })
  },
  createComment: () => github.createComment(api, name, issue(), 'Working'),
  updateComment: async () => github.updateComment(api, name, (await github.createComment(api, name, issue(), 'Working')).id, 'Done'),
  listComments: () => github.listComments(api, name, issue(), since),
  createReaction: async () => {
    for (const content of ['eyes', 'confused', '-1', '+1'] as const)
      await github.createReaction(api, name, { commentId: Number(world.comment_id) }, content)
    await github.createReaction(api, name, { issueNumber: issue() }, 'eyes')
    await github.createReaction(api, name, { reviewCommentId: await onLine() }, 'eyes')
  },
  listReactions: async () => {
    for (const subject of [{ commentId: Number(world.comment_id) }, { issueNumber: issue() }, { reviewCommentId: await onLine() }])
      await github.listReactions(api, name, subject, 'eyes')
  },
  createBlob: () => github.createBlob(api, name, Buffer.from([0, 255])),
  createTree: async () => {
    const sha = await github.createBlob(api, name, Buffer.from([0]))
    const entries = [
      { path: 'text', mode: '100755', text: 'a' },
      { path: 'bytes', mode: '100644', sha },
      { path: 'module', mode: '160000', sha: String(world.commit_sha) },
    ]
    const tree = await github.createTree(api, name, await treeSha(), entries)
    await github.createTree(api, name, tree, [{ path: 'text', mode: '100755', sha: null }])
  },
  createCommit: async () =>
    github.createCommit(api, name, { message: 'One more', tree: await treeSha(), parent: String(world.commit_sha) }),
  createBranch: () => github.createBranch(api, name, 'made/here', String(world.commit_sha)),
  forwardBranch: async () => {
    const { sha } = await github.createCommit(api, name, { message: 'On', tree: await treeSha(), parent: String(world.commit_sha) })
    await github.createBranch(api, name, 'forward', String(world.commit_sha))
    await github.forwardBranch(api, name, 'forward', sha)
  },
  listCommitsBetween: () => github.listCommitsBetween(api, name, String(world.commit_sha), 'topic'),
  createReply: async () => github.createReply(api, name, pull(), await onLine(), 'So'),
  listReviewComments: () => github.listReviewComments(api, name, pull(), since),
  createReview: () =>
    github.createReview(api, name, pull(), {
      headSha: String(world.commit_sha),
      body: 'Seen',
      comments: [
        { path: 'a.ts', startLine: 1, line: 1, body: 'Here' },
        { path: 'a.ts', startLine: 1, line: 2, body: 'And here' },
      ],
    }),
  listReviews: () => github.listReviews(api, name, pull()),
  listHookDeliveries: async () => {
    for (let at = 0; at < 100; at += 1) simulator.github.state.deliveries.push({ ...someDelivery(), id: 5_000_000_000 + at })
    const { next } = await github.listHookDeliveries(asApp, null)
    await github.listHookDeliveries(asApp, next)
  },
  redeliver: () => github.redeliver(asApp, String(world.delivery_id)),
  createPull: () => github.createPull(api, name, { head: 'second', base: 'trunk', title: 'Second', body: 'Text', draft: true }),
  listPullsFrom: () => github.listPullsFrom(api, name, 'topic'),
  readPull: () => github.readPull(api, name, pull()),
  readPullStanding: () => github.readPullStanding(api, name, pull()),
  isInHistory: () => github.isInHistory(api, name, String(world.commit_sha), 'topic'),
  readBranchSha: () => github.readBranchSha(api, name, 'topic'),
  readRepository: () => github.readRepository(api, name),
  readThreadStanding: () => github.readThreadStanding(api, name, { number: issue(), person: { login: 'maria', id: 1 } }),
  readRole: () => github.readRole(api, name, { login: 'maria', id: 1 }),
}

function someDelivery() {
  const [first] = simulator.github.state.deliveries
  if (!first) throw new Error('nothing was delivered')
  return first
}

/** They send nothing of their own: errors, the messages between processes, and when to write. */
const silent = ['classifyError', 'MintAnswer', 'MintCall', 'passedHeaders', 'createRemoteApp', 'createWritePace']

test('each function of github/ is called here, or sends nothing', () => {
  const named = [...Object.keys(calls), ...silent].sort()
  expect(named).toEqual(Object.keys(github).sort())
})

test.each(Object.keys(calls))('%s asks for what GitHub describes', async called => {
  sent.length = 0
  await calls[called]?.()
  expect(sent.length).toBeGreaterThan(0)
  expect(sent.flatMap(each => [...requestFindings(each), ...exchangeFindings(each)])).toEqual([])
})

test('a server without GraphQL is asked for the branches of its merge queue as GitHub describes', async () => {
  sent.length = 0
  simulator.github.fail({ route: 'POST /graphql', fault: { kind: 'status', status: 404 } })
  await github.readPullStanding(api, name, pull())
  expect(sent.map(each => each.path)).toContain('/repos/{owner}/{repo}/git/matching-refs/{ref+}')
  expect(sent.flatMap(each => [...requestFindings(each), ...exchangeFindings(each)])).toEqual([])
})
