import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createPages, createReceiver, openKeptFile, type PagesPorts } from '../../../app/index.ts'
import { type NewEvent, type Payload, renderLink, type TaskAccepted } from '../../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../../ledger/index.ts'
import { silentLogger } from '../../../telemetry/index.ts'
import { eraseTaskFiles } from '../../../worker/erase-task-files.ts'
import { patchPath } from '../../../worker/keep-patch.ts'
import { taskFolder } from '../../../worker/task-folder.ts'
import { bundlePath, writeTaskBundle } from '../../../worker/write-bundle.ts'
import { fixedSigner } from '../../domain/bundle-scene.ts'
import { accepted, claimOptions, eventOf, payloads, startedAt, taskOf } from '../../ledger/samples.ts'

export const linkKey = Buffer.alloc(32, 7)
export const now = startedAt + 3_600_000
export const keepMs = 86_400_000
export const patch = 'diff --git a/pager.js b/pager.js\n+<script>alert(1)</script>\n'

export type PageScene = {
  ledger: Ledger
  ports: PagesPorts
  /** Where the receiver with the pages listens. */
  origin: string
  /** Records a task with everything a run records, in which every foreign text is `foreign`. */
  record(taskId: string, options?: Recorded): Promise<void>
  erase(taskId: string): Promise<void>
  /** The page's own address, as it is written into a repository. */
  link(taskId: string): string
  /** The same without the origin, of a file of the task when one is named. */
  place(taskId: string, file?: string): string
  close(): Promise<void>
}

export type Recorded = {
  visibility?: TaskAccepted['repository']['visibility']
  foreign?: string
  /** Events between the beginning and the end, in place of those of a small run. */
  events?: readonly NewEvent[]
  end?: Payload<'task.ended'> | null
  /** In place of the foreign text in the one place where an address is wanted. */
  pullUrl?: string
}

/** A real ledger, real bundles, real HTTP: the pages as the receiver has them. */
export async function openPageScene(change: Partial<PagesPorts> = {}): Promise<PageScene> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'grokbot-pages-'))
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: () => now })
  const keys = path.join(dataDir, 'keys')
  mkdirSync(keys)
  for (const count of [1, 2]) writeFileSync(path.join(keys, `${count}.pem`), fixedSigner(count).publicKeyPem)
  const dirOf = (taskId: string) => taskFolder(dataDir, taskId)
  const ports: PagesPorts = {
    ledger,
    readPatch: taskId => openKeptFile(patchPath(dirOf(taskId))),
    readBundle: taskId => openKeptFile(bundlePath(dirOf(taskId))),
    publicKeys: async () => readdirSync(keys).map(name => readFileSync(path.join(keys, name), 'utf8')),
    linkKey,
    githubHost: 'github.example',
    programName: 'grokbot',
    now: () => now,
    logger: silentLogger,
    ...change,
  }
  const server = createReceiver(
    { secret: 'not asked for here', deliveryBytesMax: 1, paths: ['/webhook'] },
    {
      pages: createPages(ports),
      recordDelivery: async () => 'known',
      onDelivery: () => undefined,
      now: () => now,
      logger: silentLogger,
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bundlePorts = { ledger, signer: fixedSigner(1), logger: silentLogger }
  const link = (taskId: string) => renderLink({ baseUrl: origin, taskId, now, keepMs }, linkKey)
  return {
    ledger,
    ports,
    origin,
    async record(taskId, options = {}) {
      await recordTask(ledger, taskId, options)
      mkdirSync(dirOf(taskId), { recursive: true })
      if (options.events === undefined) writeFileSync(patchPath(dirOf(taskId)), patch)
      if (options.end !== null) await writeTaskBundle(taskId, dirOf(taskId), bundlePorts)
    },
    async erase(taskId) {
      await ledger.eraseTask(taskId, 'mona')
      await eraseTaskFiles(taskId, dirOf(taskId), bundlePorts)
    },
    link,
    place: (taskId, file) =>
      link(taskId)
        .slice(origin.length)
        .replace('?', file === undefined ? '?' : `/${file}?`),
    async close() {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
      await ledger.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}

async function recordTask(ledger: Ledger, taskId: string, { visibility = 'private', foreign = 'plain words', ...rest }: Recorded) {
  const { pullUrl = foreign, events = smallRun(taskId, foreign, pullUrl), end = endOf(foreign) } = rest
  const payload: TaskAccepted = {
    ...accepted,
    requester: { ...accepted.requester, login: foreign },
    repository: { ...accepted.repository, visibility },
    subject: { kind: 'issue', number: 12, title: foreign, body: foreign },
    base: { ...accepted.base, ref: foreign },
  }
  await ledger.acceptTask(taskOf(taskId, { first: { type: 'task.accepted', payload } }))
  const claim = await ledger.claimTask(taskId, claimOptions())
  if (claim === null) throw new Error('the task could not be claimed')
  const all = [...events, ...(end === null ? [] : [eventOf('task.ended', end)])]
  for (const [index, event] of all.entries())
    await ledger.append({ ...claim, actor: foreign, at: startedAt + 1000 * (index + 1), expectedSeq: index + 1, events: [event] })
}

const endOf = (foreign: string): Payload<'task.ended'> => ({ outcome: 'failed', reason: foreign, summary: foreign })

/** Every type of event a run has, with `foreign` wherever somebody else than us chooses the words. */
function smallRun(taskId: string, foreign: string, pullUrl: string): NewEvent[] {
  const input = { version: 1, name: foreign, kind: 'execute', input: { command: foreign } }
  const sandbox = { engine: 'bubblewrap', state: 'enforced' as const, profile: 'workspace', missing: ['memoryTotal: per-process', foreign] }
  const denied = { kind: 'deny' as const, rule: foreign, reason: foreign }
  const tool = { name: foreign, kind: 'execute', readOnly: false, result: foreign, meta: input, sandbox, hosts: [foreign] }
  const check = { name: foreign, command: foreign, sandbox, output: `first\n${foreign}\nlast` }
  const effectId = `${taskId}:pull-request:1`
  const pull = { effectId, kind: 'pull-request' as const, key: 'pull-request-1', intent: { title: foreign, draft: true } }
  const failing = { exitCode: 1, counts: { passed: 3, failed: 1, skipped: 0 } }
  return [
    eventOf('attempt.started', { owner: foreign }),
    eventOf('workspace.opened', { sandbox }),
    eventOf('setup.settled', { commands: [foreign], output: foreign, hosts: [foreign] }),
    eventOf('taint.raised', { source: foreign, detail: foreign }),
    eventOf('session.started', { model: foreign, systemPrompt: foreign, userPrompt: foreign }),
    eventOf('model.requested'),
    eventOf('model.answered', { text: foreign, finishReason: foreign, toolCalls: [{ id: 'call_0', name: foreign, arguments: foreign }] }),
    eventOf('tool.started', { name: foreign }),
    eventOf('tool.settled', { ...tool, exitCode: 0 }),
    eventOf('model.answered', { turn: 2, text: foreign, toolCalls: [{ id: 'call_1', name: foreign, arguments: foreign }] }, 'answer-2'),
    eventOf('tool.settled', { ...tool, turn: 2, callId: 'call_1', status: 'denied', decision: denied }, 'call-2'),
    eventOf('session.ended', { text: `${foreign}\nsecond line`, turns: 2 }),
    eventOf('change.collected', {
      files: [
        { ...payloads['change.collected'].files[0], path: foreign, from: foreign, status: 'renamed', notes: [foreign] } as never,
        { path: 'test/pager.test.js', status: 'modified', from: null, mode: '100644', added: 12, removed: 0, notes: ['test file'] },
        { path: 'logo.png', status: 'added', from: null, mode: '100644', added: null, removed: null, notes: [] },
      ],
      leftOut: [{ path: foreign, reason: foreign }],
      refused: [{ path: foreign, reason: foreign }],
    }),
    eventOf('check.settled', { ...check, ...failing, cell: 'baseCodeBaseTests' }, 'check-1'),
    eventOf('check.settled', { ...check, ...failing, cell: 'newCodeNewTests', killedBy: null }, 'check-2'),
    eventOf('check.settled', { ...check, cell: 'newCodeBaseTests', source: 'detected', killedBy: foreign }, 'check-3'),
    eventOf('change.judged', { verdict: 'unproven', reasons: [foreign] }),
    eventOf('commit.made', { branch: foreign, message: foreign }),
    eventOf('effect.prepared', pull),
    eventOf('effect.dispatched', { effectId }),
    eventOf('effect.settled', { effectId, remote: { number: 13, url: pullUrl, draft: true }, reason: foreign }),
  ]
}
