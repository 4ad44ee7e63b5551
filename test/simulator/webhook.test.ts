import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/rest'
import webhookExamples from '@octokit/webhooks-examples'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mint, octokit, useSimulator } from './fixture.ts'

const fixture = useSimulator()
// The package's types describe a module object where its code exports the list itself.
const examples = webhookExamples as unknown as { name: string; examples: { action?: string }[] }[]
const received: { headers: IncomingHttpHeaders; chunks: Buffer[]; body: Buffer }[] = []
let receiver: Server
let url: string
let status = 202
let issue: number
let commentId: number

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, chunks, body: Buffer.concat(chunks) })
    response.writeHead(status).end('seen')
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  await fixture.github.addRepository({ owner: 'acme', name: 'tool', ownerType: 'Organization' })
  fixture.github.setPermission('acme/tool', 'maria', 'maintain')
  issue = fixture.github.openIssue({ repo: 'acme/tool', author: 'maria', title: 'It is broken', body: 'Look' }).number
  commentId = fixture.github.comment({ repo: 'acme/tool', number: issue, author: 'maria', body: '/grok fix 😀' }).id
})

afterAll(() => {
  receiver.close()
})

beforeEach(() => {
  received.length = 0
  status = 202
})

describe('a delivery', () => {
  test('is signed over its exact bytes and looks like one of GitHub', async () => {
    const { github } = fixture
    const delivery = await github.deliver({
      event: 'issue_comment',
      payload: github.payload.issueComment('created', { repo: 'acme/tool', commentId }),
      to: url,
    })
    const [{ headers, body } = { headers: {} as IncomingHttpHeaders, body: Buffer.alloc(0) }] = received
    expect(headers).toMatchObject({
      'user-agent': expect.stringMatching(/^GitHub-Hookshot\/[0-9a-f]{7}$/),
      'content-type': 'application/json',
      'x-github-event': 'issue_comment',
      'x-github-delivery': delivery.guid,
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': `sha256=${createHmac('sha256', github.webhookSecret).update(body).digest('hex')}`,
    })
    expect(delivery).toMatchObject({ statusCode: 202, responseBody: 'seen', event: 'issue_comment', action: 'created', redelivery: false })
    expect(JSON.parse(body.toString()).comment.body).toBe('/grok fix 😀')
  })

  test('keeps bytes that are not canonical JSON, cut where a test wants it', async () => {
    const text = '{ "action":"created",\n "comment": {"body":"\\u001B[0m 😀"} }'
    const cut = Buffer.from(text).indexOf(Buffer.from('😀')) + 2
    await fixture.github.deliver({ event: 'issue_comment', payload: text, to: url, chunks: [cut] })
    expect(received[0]?.body.toString()).toBe(text)
    expect(received[0]?.chunks.map(each => each.length)).toEqual([cut, Buffer.byteLength(text) - cut])
  })

  test.each([
    ['without a signature', { secret: null }, undefined],
    ['with another secret', { secret: 'wrong' }, expect.not.stringContaining('undefined')],
    ['with a header of wrong length', { headers: { 'X-Hub-Signature-256': 'sha256=abc' } }, 'sha256=abc'],
  ])('%s can be sent, to be refused', async (_, wish, header) => {
    await fixture.github.deliver({ event: 'ping', payload: '{}', to: url, ...wish })
    const right = `sha256=${createHmac('sha256', fixture.github.webhookSecret).update('{}').digest('hex')}`
    expect(received[0]?.headers['x-hub-signature-256']).toEqual(header)
    expect(received[0]?.headers['x-hub-signature-256']).not.toBe(right)
  })

  test('nobody listening or no answer in time is recorded, never thrown', async () => {
    const { github } = fixture
    const dead = await github.deliver({ event: 'ping', payload: '{}', to: 'http://127.0.0.1:1/hook' })
    expect(dead).toMatchObject({ statusCode: 0, status: 'failed to connect to host' })
    const deaf = createServer(() => {}).listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    const to = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`
    expect(await github.deliver({ event: 'ping', payload: '{}', to, timeoutMs: 50 })).toMatchObject({ statusCode: 0, status: 'timed out' })
    deaf.closeAllConnections()
    deaf.close()
  })

  test('that failed is found in the deliveries API and sent again on request, with the same GUID and bytes', async () => {
    const { github } = fixture
    status = 503
    const failed = await github.deliver({ event: 'ping', payload: '{"zen":"x"}', to: url })
    const app = new Octokit({
      baseUrl: github.url,
      authStrategy: createAppAuth,
      auth: { appId: github.appId, privateKey: github.appPrivateKey },
    })
    const { data } = await app.rest.apps.listWebhookDeliveries({ per_page: 1 })
    expect(data).toMatchObject([{ id: failed.id, guid: failed.guid, status_code: 503, redelivery: false, event: 'ping' }])
    const one = await app.rest.apps.getWebhookDelivery({ delivery_id: failed.id })
    expect(one.data.request.payload).toEqual({ zen: 'x' })
    status = 202
    expect((await app.rest.apps.redeliverWebhookDelivery({ delivery_id: failed.id })).status).toBe(202)
    await expect.poll(() => received.length).toBe(2)
    expect(received[1]?.headers['x-github-delivery']).toBe(failed.guid)
    expect(received[1]?.body).toEqual(received[0]?.body)
    await expect.poll(() => github.state.deliveries.at(-1)).toMatchObject({ guid: failed.guid, redelivery: true, statusCode: 202 })
    const pages = await app.paginate(app.rest.apps.listWebhookDeliveries, { per_page: 2 })
    expect(pages.map(each => each.id)).toEqual(github.state.deliveries.map(each => each.id).reverse())
  })
})

describe('webhooks of the fake itself', () => {
  test('say what people and the App do, and then stop', async () => {
    const { github } = fixture
    github.setWebhook(url)
    const number = github.openIssue({ repo: 'octo/hello', author: 'maria', title: 'T' }).number
    const octo = octokit(github, await mint(github, 'octo'))
    const { data } = await octo.rest.issues.createComment({ owner: 'octo', repo: 'hello', issue_number: number, body: 'Working' })
    await octo.rest.issues.updateComment({ owner: 'octo', repo: 'hello', comment_id: data.id, body: 'Done' })
    await github.commit({
      repo: 'octo/hello',
      branch: 'topic',
      files: { a: 'a' },
      from: (await github.refs('octo/hello'))['refs/heads/trunk'] ?? '',
    })
    const pull = await github.openPull({ repo: 'octo/hello', author: 'maria', title: 'P', head: 'topic', body: `fixes #${number}` })
    await github.commit({ repo: 'octo/hello', branch: 'topic', files: { a: 'b' }, author: 'maria' })
    await github.mergePull({ repo: 'octo/hello', number: pull.number, sender: 'maria' })
    await github.webhooksSettled()
    github.setWebhook(null)
    github.comment({ repo: 'octo/hello', number, author: 'maria', body: 'unheard' })
    const seen = received.map(({ headers, body }) => {
      const { action, sender } = JSON.parse(body.toString())
      return `${headers['x-github-event']}.${action} ${sender.login}`
    })
    expect(seen.sort()).toEqual([
      'issue_comment.created grokbot[bot]',
      'issue_comment.edited grokbot[bot]',
      'issues.closed maria',
      'issues.opened maria',
      'pull_request.closed maria',
      'pull_request.opened maria',
      'pull_request.synchronize maria',
    ])
    const merged = received.map(({ body }) => JSON.parse(body.toString())).find(each => each.action === 'closed' && each.pull_request)
    expect(merged.pull_request).toMatchObject({ merged: true, state: 'closed' })
  })
})

async function playAndRead(play: () => unknown): Promise<{ event: string; body: Record<string, unknown> }[]> {
  fixture.github.setWebhook(url)
  await play()
  await fixture.github.webhooksSettled()
  fixture.github.setWebhook(null)
  return received.map(({ headers, body }) => ({ event: String(headers['x-github-event']), body: JSON.parse(body.toString()) }))
}

const namesOf = (seen: { event: string; body: Record<string, unknown> }[]) => seen.map(each => `${each.event}.${each.body.action}`).sort()

describe('what happens on a pull request', () => {
  let number: number
  let checkRunId: number
  const repo = 'octo/hello'

  beforeAll(async () => {
    const { github } = fixture
    const trunk = (await github.refs(repo))['refs/heads/trunk'] ?? ''
    const head_sha = await github.commit({ repo, branch: 'reviewed', files: { 'a.ts': 'one\ntwo\nthree\n' }, from: trunk })
    number = (await github.openPull({ repo, author: 'maria', title: 'P', head: 'reviewed' })).number
    const octo = octokit(github, await mint(github, 'octo'))
    const actions = [{ label: 'Fix', description: 'Fix it', identifier: 'fix' }]
    checkRunId = Number((await octo.rest.checks.create({ owner: 'octo', repo: 'hello', name: 'grok / review', head_sha, actions })).data.id)
  })

  test('one review with three comments is one event of the review and three of comments', async () => {
    const comments = [1, 2, 3].map(line => ({ path: 'a.ts', line, body: `/grok fix ${line}` }))
    const seen = await playAndRead(() => fixture.github.review({ repo, number, author: 'octo', comments }))
    const created = 'pull_request_review_comment.created'
    expect(namesOf(seen)).toEqual(['pull_request_review.submitted', created, created, created])
    const review = seen.find(each => each.event === 'pull_request_review')?.body.review as { id: number }
    expect(review).toMatchObject({ state: 'commented', body: null, user: { login: 'octo' } })
    const ids = seen.filter(each => each.event !== 'pull_request_review').map(each => each.body.comment)
    expect(ids).toMatchObject([1, 2, 3].map(() => ({ pull_request_review_id: review.id })))
  })

  test('a comment by itself, a reply and their edits come with a review each, and a pending review is silent', async () => {
    const { github } = fixture
    const seen = await playAndRead(async () => {
      const { id } = await github.reviewComment({ repo, number, author: 'maria', path: 'a.ts', line: 2, body: 'Why?' })
      github.replyToReviewComment({ repo, commentId: id, author: 'octo', body: 'Because.' })
      github.editReviewComment({ repo, commentId: id, body: 'Why not?' })
      github.deleteReviewComment({ repo, commentId: id, sender: 'octo' })
      await github.review({ repo, number, author: 'octo', body: 'Later', event: null })
    })
    expect(namesOf(seen)).toEqual([
      'pull_request_review.submitted',
      'pull_request_review.submitted',
      'pull_request_review_comment.created',
      'pull_request_review_comment.created',
      'pull_request_review_comment.deleted',
      'pull_request_review_comment.edited',
    ])
    expect(seen.find(each => each.body.action === 'edited')?.body).toMatchObject({
      changes: { body: { from: 'Why?' } },
      comment: { body: 'Why not?' },
    })
    expect(seen.find(each => each.body.action === 'deleted')?.body.sender).toMatchObject({ login: 'octo' })
  })

  test('an edit says what it changed, and a push which commits', async () => {
    const { github } = fixture
    const before = (await github.refs(repo))['refs/heads/reviewed']
    const seen = await playAndRead(async () => {
      github.editIssue({ repo, number, title: 'P2', body: 'Words', sender: 'octo' })
      github.editIssue({ repo, number, title: 'P2' })
      await github.commit({ repo, branch: 'reviewed', files: { b: 'b' }, author: 'maria' })
      github.setIssueState({ repo, number, state: 'closed' })
      github.setIssueState({ repo, number, state: 'open' })
    })
    expect(namesOf(seen)).toEqual(['edited', 'reopened', 'closed', 'synchronize'].sort().map(action => `pull_request.${action}`))
    const after = (await github.refs(repo))['refs/heads/reviewed']
    const body = (action: string) => seen.find(each => each.body.action === action)?.body
    expect(body('edited')).toMatchObject({ changes: { title: { from: 'P' }, body: { from: null } }, pull_request: { title: 'P2' } })
    expect(body('synchronize')).toMatchObject({ before, after, pull_request: { head: { sha: after }, mergeable: null, commits: 2 } })
    // Each tells of its own moment, though the figures are read later.
    expect(body('closed')).toMatchObject({ pull_request: { state: 'closed' } })
    expect(body('reopened')).toMatchObject({ pull_request: { state: 'open' } })
  })

  test('buttons of a check run come back with their identifier, and the end of the run is told once', async () => {
    const { github } = fixture
    const octo = octokit(github, await mint(github, 'octo'))
    const seen = await playAndRead(async () => {
      const update = { owner: 'octo', repo: 'hello', check_run_id: checkRunId, conclusion: 'success' as const }
      await octo.rest.checks.update(update)
      await octo.rest.checks.update({ ...update, conclusion: 'failure' })
      github.clickCheckRun({ repo, checkRunId, sender: 'maria', identifier: 'fix' })
      github.clickCheckRun({ repo, checkRunId, sender: 'maria', rerequest: true })
    })
    expect(namesOf(seen)).toEqual(['check_run.completed', 'check_run.requested_action', 'check_run.rerequested'])
    const body = (action: string) => seen.find(each => each.body.action === action)?.body
    expect(body('completed')).toMatchObject({
      sender: { login: 'grokbot[bot]' },
      check_run: { status: 'completed', conclusion: 'success' },
    })
    expect(body('requested_action')).toMatchObject({ requested_action: { identifier: 'fix' }, sender: { login: 'maria' } })
    // Asked for again, the suite starts anew, and the run stays as it was.
    expect(body('rerequested')).toMatchObject({
      check_run: { id: checkRunId, conclusion: 'failure', check_suite: { status: 'queued', conclusion: null } },
    })
    expect(() => github.clickCheckRun({ repo, checkRunId, sender: 'maria', identifier: 'merge' })).toThrow('no button merge')
  })
})

test('what is done to an installation is told, and nothing of a repository it does not cover or while it is suspended', async () => {
  const { github } = fixture
  await github.addRepository({ owner: 'inst', name: 'one' })
  await github.addRepository({ owner: 'inst', name: 'two' })
  const { id } = github.installation('inst')
  const seen = await playAndRead(() => {
    github.setInstallation('inst', { repositories: ['inst/one'], sender: 'maria' })
    github.openIssue({ repo: 'inst/two', author: 'maria', title: 'unheard' })
    github.setInstallation('inst', { suspended: true })
    github.openIssue({ repo: 'inst/one', author: 'maria', title: 'unheard' })
    github.setInstallation('inst', { suspended: false })
    github.uninstall('inst')
    github.openIssue({ repo: 'inst/one', author: 'maria', title: 'unheard' })
    github.install('inst')
    github.openIssue({ repo: 'inst/one', author: 'maria', title: 'heard' })
  })
  const actions = ['created', 'deleted', 'suspend', 'unsuspend'].map(action => `installation.${action}`)
  expect(namesOf(seen)).toEqual([...actions, 'installation_repositories.removed', 'issues.opened'])
  const body = (event: string, action: string) => seen.find(each => each.event === event && each.body.action === action)?.body
  expect(body('installation_repositories', 'removed')).toMatchObject({
    repositories_removed: [{ full_name: 'inst/two' }],
    repository_selection: 'selected',
    installation: { id },
    sender: { login: 'maria' },
  })
  expect(body('installation', 'suspend')).toMatchObject({ installation: { id, suspended_at: expect.any(String) } })
  expect(body('installation', 'deleted')).toMatchObject({ installation: { id }, repositories: [{ full_name: 'inst/one' }] })
  expect(body('issues', 'opened')).toMatchObject({ issue: { title: 'heard' }, installation: { id: github.installation('inst').id } })
})

describe("payloads have every key that all of GitHub's own examples have", () => {
  let reviewId: number
  let inlineId: number
  let checkRunId: number

  beforeAll(async () => {
    const { github } = fixture
    const head_sha = await github.commit({
      repo: 'acme/tool',
      branch: 'topic',
      files: { a: 'a\n' },
      from: (await github.refs('acme/tool'))['refs/heads/main'] ?? '',
    })
    await github.openPull({ repo: 'acme/tool', author: 'maria', title: 'P', head: 'topic' })
    const comments = [{ path: 'a', line: 1, body: 'Hm' }]
    reviewId = (await github.review({ repo: 'acme/tool', number: 2, author: 'maria', body: 'Hm', comments })).id
    inlineId = github.state.repositories.get('acme/tool')?.reviewComments.keys().next().value ?? 0
    const octo = octokit(github, await mint(github, 'acme'))
    checkRunId = Number((await octo.rest.checks.create({ owner: 'acme', repo: 'tool', name: 'grok', head_sha })).data.id)
  })

  const cases: [string, () => object | Promise<object>][] = [
    ...(['created', 'edited', 'deleted'] as const).map(
      action =>
        [`issue_comment.${action}`, () => fixture.github.payload.issueComment(action, { repo: 'acme/tool', commentId })] as [
          string,
          () => object,
        ],
    ),
    ...(['opened', 'closed', 'reopened', 'edited'] as const).map(
      action =>
        [`issues.${action}`, () => fixture.github.payload.issues(action, { repo: 'acme/tool', number: issue })] as [string, () => object],
    ),
    ...(['opened', 'closed', 'reopened', 'edited', 'synchronize', 'ready_for_review'] as const).map(
      action =>
        [`pull_request.${action}`, () => fixture.github.payload.pullRequest(action, { repo: 'acme/tool', number: 2 })] as [
          string,
          () => Promise<object>,
        ],
    ),
    ...(['submitted', 'dismissed'] as const).map(
      action =>
        [`pull_request_review.${action}`, () => fixture.github.payload.pullRequestReview(action, { repo: 'acme/tool', reviewId })] as [
          string,
          () => object,
        ],
    ),
    ...(['created', 'edited', 'deleted'] as const).map(
      action =>
        [
          `pull_request_review_comment.${action}`,
          () => fixture.github.payload.pullRequestReviewComment(action, { repo: 'acme/tool', commentId: inlineId }),
        ] as [string, () => object],
    ),
    ...(['created', 'completed', 'rerequested', 'requested_action'] as const).map(
      action =>
        [`check_run.${action}`, () => fixture.github.payload.checkRun(action, { repo: 'acme/tool', checkRunId })] as [
          string,
          () => Promise<object>,
        ],
    ),
    ...(['added', 'removed'] as const).map(
      action =>
        [
          `installation_repositories.${action}`,
          () => fixture.github.payload.installationRepositories(action, { owner: 'acme', repos: ['acme/tool'] }),
        ] as [string, () => object],
    ),
    ...(['created', 'deleted', 'suspend', 'unsuspend'] as const).map(
      action =>
        [
          `installation.${action}`,
          () => {
            fixture.github.setInstallation('acme', { suspended: action === 'suspend' })
            return fixture.github.payload.installation(action, { owner: 'acme' })
          },
        ] as [string, () => object],
    ),
    ['ping.', () => fixture.github.payload.ping()],
  ]

  test.each(cases)('%s', async (name, build) => {
    const [event, action] = name.split('.')
    const all = examples.find(each => each.name === event)?.examples ?? []
    const same = all.filter(each => each.action === action)
    const known = (same.length > 0 ? same : all).map(each => keyPaths(JSON.parse(JSON.stringify(each))))
    expect(known.length).toBeGreaterThan(0)
    const common = [...(known[0] ?? [])].filter(path => known.every(each => each.has(path)))
    const ours: unknown = JSON.parse(JSON.stringify(await build()))
    const paths = keyPaths(ours)
    expect(common.filter(path => !paths.has(path) && !isEmptyHere(ours, path) && !ofTheirSituation.test(path))).toEqual([])
    expect(common.length).toBeGreaterThan(5)
  })
})

/** What an edit changed, a hook's own settings, a deployment and the permissions an App asked for differ from case to case. */
const ofTheirSituation = /^\.changes\.|^\.hook\.|\.(?:permissions|events)\.|^\.organization$|\.deployment(?:\.|$)/

/** Every key with its way to it; what lies in a list counts for all its entries. */
function keyPaths(value: unknown, at = ''): Set<string> {
  const paths = new Set<string>()
  for (const [key, inner] of entriesOf(value)) {
    const path = `${at}.${key}`
    paths.add(path)
    for (const each of keyPaths(inner, path)) paths.add(each)
  }
  return paths
}

/** Null and an empty list stand for whatever lies below them: a milestone that is not set has no title. */
function isEmptyHere(value: unknown, path: string): boolean {
  if (value === null || (Array.isArray(value) && value.length === 0)) return true
  const [, key = '', ...rest] = path.split('.')
  return entriesOf(value).some(([name, inner]) => name === key && isEmptyHere(inner, `.${rest.join('.')}`))
}

function entriesOf(value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.map(each => ['[]', each])
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}
