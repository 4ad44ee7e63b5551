import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMintServer } from '../../app/index.ts'
import { classifyError, createRemoteApp, type GitHubApp, type Permissions } from '../../github/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { type App, openApp } from './open-app.ts'

const secret = 'a'.repeat(64)
const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-mint-'))
const socket = path.join(folder, 'mint.sock')
let app: App
let server: ReturnType<typeof createMintServer>
let worker: GitHubApp
let installationId: number
let repositoryId: number
/** A fix that attempt 1 of this worker holds. */
const taskId = 't_1'

const remote = (given: Partial<Parameters<typeof createRemoteApp>[0]> = {}) =>
  createRemoteApp({ sockets: () => [socket], secret, timeoutMs: 5_000, ...given })
const claim = { owner: 'worker-1', recoveriesMax: 5, deadOwners: [] }
const ask = (permissions: Permissions, change: object = {}) =>
  worker.mint({ installationId, repositoryId, permissions, for: { taskId, attempt: 1 }, ...change }).then(
    ({ token }) => token.slice(0, 4),
    error => classifyError(error),
  )

beforeAll(async () => {
  app = await openApp()
  await app.simulator.github.addRepository({ owner: 'octo', name: 'other' })
  await app.comment('/grok fix')
  await app.take()
  const { now } = app.clock
  await app.ledger.claimNext({ ...claim, now, leaseUntil: now + 1_000_000 })
  const [first] = await app.ledger.readEvents(taskId)
  const payload = first?.type === 'task.accepted' ? first.payload : null
  installationId = payload?.installationId ?? 0
  repositoryId = payload?.repository.id ?? 0
  const { github, ledger } = app.intake
  server = createMintServer(secret, {
    ...{ github, apiUrl: app.simulator.github.url, ledger, logger: silentLogger },
    limits: () => app.limits,
    now: () => app.clock.now,
  })
  server.listen(socket)
  await once(server, 'listening')
  worker = remote()
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a worker learns who the App is and acts with tokens of its task, without ever having the key', async () => {
  const { token } = await worker.mint({
    installationId,
    repositoryId,
    permissions: { contents: 'read' },
    for: { taskId, attempt: 1 },
  })
  const { data } = await worker.api(token).rest.repos.get({ owner: 'octo', repo: 'parser' })
  expect([data.full_name, await worker.identity()]).toEqual([
    'octo/parser',
    { ...(await app.intake.github.identity()), apiUrl: app.simulator.github.url },
  ])
})

describe('a token is refused', () => {
  const refused = (message: string) => ({ kind: 'rejected', status: 403, message: expect.stringContaining(message) })
  test.each<[string, Permissions, object, string]>([
    ['for a permission no effect of the task needs', { administration: 'read' }, {}, 'needs no administration: read'],
    ['to write what the task only reads', { metadata: 'write' }, {}, 'needs no metadata: write'],
    ['for a task that is not there', { contents: 'read' }, { for: { taskId: 't_9', attempt: 1 } }, 'no such task'],
    ['for an attempt that is not the newest', { contents: 'read' }, { for: { taskId, attempt: 2 } }, 'newer attempt'],
    ['for a property of every object', { constructor: 'read' } as unknown as Permissions, {}, 'needs no constructor'],
    ['no permission at all', {}, {}, 'it names no permission'],
  ])('%s', async (_, permissions, change, message) => {
    expect(await ask(permissions, change)).toEqual(refused(message))
  })
  test('for another repository of the same installation', async () => {
    const other = app.simulator.github.state.repositories.get('octo/other')?.id
    expect(await ask({ contents: 'read' }, { repositoryId: other })).toEqual(refused('another repository'))
  })
  test('for another installation', async () => {
    expect(await ask({ contents: 'read' }, { installationId: installationId + 1 })).toEqual(refused('another repository'))
  })
  test('to one without the secret', async () => {
    worker = remote({ secret: 'b'.repeat(64) })
    expect(await ask({ contents: 'read' })).toMatchObject({ kind: 'rejected', status: 401 })
    worker = remote()
  })
  test('when the call has more in it than a call has', async () => {
    expect(await ask({ contents: 'read' }, { for: { taskId, attempt: 1, admin: true } })).toMatchObject({ kind: 'rejected', status: 422 })
  })
  test('for now when its lease has run out: nobody has taken over, and it may be renewed', async () => {
    app.clock.now += 2_000_000
    expect(await ask({ contents: 'read' })).toMatchObject({ kind: 'uncertain', message: expect.stringContaining('has run out') })
    app.clock.now -= 2_000_000
  })
  test('and nothing of it reaches GitHub', async () => {
    const before = app.simulator.github.requests().length
    await ask({ administration: 'write' })
    expect(app.simulator.github.requests().length).toBe(before)
  })
})

test("GitHub's own refusals and waits are told apart as if the worker had asked itself", async () => {
  const minting = { method: 'POST', path: /access_tokens$/ } as const
  app.simulator.github.fail({ ...minting, fault: { kind: 'secondary-limit', retryAfterSeconds: 7 } })
  expect(await ask({ contents: 'read' })).toMatchObject({ kind: 'later', waitMs: 7_000 })
  app.simulator.github.fail({ ...minting, fault: { kind: 'status', status: 404 } })
  expect(await ask({ contents: 'read' })).toMatchObject({ kind: 'rejected', status: 404 })
  app.simulator.github.fail({ ...minting, fault: { kind: 'html' } })
  expect(await ask({ contents: 'read' })).toMatchObject({ kind: 'uncertain' })
})

test('an app that is away costs a wait and no outcome; a socket that a killed one left is passed over', async () => {
  worker = remote({ sockets: () => [] })
  expect(await ask({ contents: 'read' })).toMatchObject({ kind: 'uncertain' })
  worker = remote({ sockets: () => [path.join(folder, 'dead.sock'), socket] })
  expect(await ask({ contents: 'read' })).toBe('ghs_')
  worker = remote()
})

test('after the end of the task a token still says the last words and looks, and pushes nothing', async () => {
  const { ledger } = app
  const row = await ledger.task(taskId)
  const payload = { outcome: 'failed', reason: 'x', summary: '' } as const
  const ended = { type: 'task.ended', commandId: 'end', payload } as const
  await ledger.append({ taskId, attempt: 1, actor: 'w', at: app.clock.now, expectedSeq: row?.lastSeq ?? 0, events: [ended] })
  expect(await ask({ issues: 'write' })).toBe('ghs_')
  expect(await ask({ contents: 'read' })).toBe('ghs_')
  expect(await ask({ contents: 'write' })).toMatchObject({ kind: 'rejected', status: 403 })
  app.limits.effectGiveUpMs = 7 * 86_400_000
  app.clock.now += 3 * 86_400_000
  expect(await ask({ contents: 'read' })).toBe('ghs_')
  app.limits.effectGiveUpMs = 86_400_000
  expect(await ask({ contents: 'read' })).toMatchObject({ kind: 'rejected', message: expect.stringContaining('too long ago') })
  app.clock.now -= 3 * 86_400_000
})
