import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteLedger } from '../../ledger/index.ts'
import { registerSecret } from '../../telemetry/index.ts'
import { modelSettingsOf } from '../../worker/model-settings.ts'
import type { SessionOrder } from '../../worker/session-order.ts'
import { openSessionRoom } from '../../worker/session-room.ts'
import { lockLedger } from './lock-ledger.ts'
import { openWorker } from './open-worker.ts'

/** An order for a real thread. Its sandbox is unavailable at once: what is tested needs none. */
async function openOrder(): Promise<SessionOrder> {
  const stage = await openWorker()
  onTestFinished(() => stage.close())
  const { repository, limits } = await stage.claimed('t_1')
  const runDir = path.join(stage.dataDir, 'runs', 't_1')
  const folder = { path: runDir, objects: runDir, lock: runDir, gid: null, wallMs: 1_000 }
  const user = stage.ports.user
  const workspace = { path: runDir, agentGitDir: runDir, agentMounts: [], index: runDir, extraObjects: null, user, submodules: [] }
  return {
    taskId: 't_1',
    attempt: 1,
    dataDir: stage.dataDir,
    runDir,
    start: {
      taskId: 't_1',
      purpose: 'change',
      request: { text: '/grok fix', requester: 'mona', subject: null },
      repository: { owner: repository.owner, name: repository.name, baseRef: 'main', baseSha: 'a'.repeat(40) },
      trust: { subject: 'trusted', repository: 'trusted' },
      instructions: [],
      grant: { profile: 'no such profile', capabilities: ['read'], effects: [] },
      limits,
      deadlineAt: Date.now() + 60_000,
      network: 'none',
      family: 'grok_build',
      model: modelSettingsOf('x', undefined),
    },
    // Nobody listens there.
    endpoint: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'none', model: 'x' },
    place: {
      sandbox: { user, policy: 'required', masked: [], roots: [], readHost: false, wallMs: 1_000, limits: {} },
      store: { path: runDir, mirror: folder },
      workspace: { ...workspace, baseSha: 'a'.repeat(40), baseTree: 'a'.repeat(40), tree: 'a'.repeat(40), files: 0 },
      workDir: runDir,
      rules: { fileBytesMax: 1, packBytesMax: 1, filesMax: 1 },
    },
    baselineTree: 'a'.repeat(40),
    poolSize: 0,
    crashpoint: null,
  }
}

test('a session that hears no stop is ended with its thread when the grace is over', { timeout: 30_000 }, async () => {
  const order = await openOrder()
  const release = await lockLedger(order.dataDir)
  const stop = new AbortController()
  const room = openSessionRoom({ place: 'thread', ahead: true, graceMs: 300 })
  const result = room.run(order, stop.signal, () => undefined)
  await sleep(1_500)
  stop.abort('cancelled')
  // Without the grace it would come back with the error of the lock that it never got.
  expect(await result).toEqual({ kind: 'ended-by-force' })
  await release()
  await room.close()
})

test('red: one that hears it ends by itself, and says how', { timeout: 30_000 }, async () => {
  const order = await openOrder()
  const stop = new AbortController()
  const room = openSessionRoom({ place: 'thread', ahead: false, graceMs: 10_000 })
  const result = room.run(order, stop.signal, () => undefined)
  await sleep(1_000)
  stop.abort('cancelled')
  expect(await result).toMatchObject({ kind: 'ended' })
  await room.close()
})

test('what a session in a thread records holds no credential of this process, whichever it is', { timeout: 30_000 }, async () => {
  const order = await openOrder()
  const secret = 'wh00k-secret-of-this-installation-0123456789'
  const text = `the webhook's secret is ${secret}`
  const told = { ...order, start: { ...order.start, instructions: [{ path: 'AGENTS.md', text }] } }
  registerSecret(secret)
  const stop = new AbortController()
  const room = openSessionRoom({ place: 'thread', ahead: false, graceMs: 10_000 })
  const result = room.run(told, stop.signal, () => undefined)
  await sleep(1_000)
  stop.abort('cancelled')
  await result
  await room.close()
  const ledger = openSqliteLedger({ dataDir: order.dataDir, durability: 'process', clock: Date.now })
  const events = JSON.stringify(await ledger.readEvents('t_1'))
  await ledger.close()
  expect(events).toContain('the webhook')
  expect(events).not.toContain(secret)
})

test.each([
  ['its result', 'ended', { kind: 'fenced' }],
  ['that it broke', 'failed', 'the session broke: as told'],
])('a thread that says %s and then does not go is ended, and holds nothing up', { timeout: 30_000 }, async (_, verb, said) => {
  const order = await openOrder()
  const request = { ...order.start.request, text: verb }
  const entry = path.join(import.meta.dirname, 'lingering-thread.ts')
  const room = openSessionRoom({ place: 'thread', ahead: true, graceMs: 200, entry })
  const told = { ...order, start: { ...order.start, request } }
  const result = await room.run(told, new AbortController().signal, () => undefined).catch((error: Error) => error.message)
  expect(result).toEqual(said)
  await room.close()
})

test('a thread that is told there is no order for it, and does not go, is ended', { timeout: 30_000 }, async () => {
  const entry = path.join(import.meta.dirname, 'lingering-thread.ts')
  await openSessionRoom({ place: 'thread', ahead: true, graceMs: 200, entry }).close()
})
