import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type IntakePorts, takeDelivery } from '../../app/intake.ts'
import { type OutboxPorts, sendOutbox } from '../../app/outbox.ts'
import { type LimitValues, limitTable } from '../../config-schema/index.ts'
import { createBackOff } from '../../effects/index.ts'
import { createGitHubApp } from '../../github/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { createInProcessQueue } from '../../queue/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { silentLogger } from '../../telemetry/index.ts'

const repo = 'octo/parser'

/** The first half with a real ledger and a fake GitHub, turned by hand and by a clock that tests move. */
export type App = {
  simulator: Simulator
  ledger: Ledger
  intake: IntakePorts
  outbox: OutboxPorts
  /** Aborting it is what the process does when it is told to go. */
  stopping: AbortController
  clock: { now: number }
  limits: LimitValues
  /** Writes a comment at GitHub and stores its delivery. */
  comment(body: string, author?: string): Promise<void>
  /** Takes every stored delivery. */
  take(): Promise<void>
  send(): Promise<number>
  /** What we wrote, as marker-less texts. */
  ours(): string[]
  reactions(): string[]
  close(): Promise<void>
}

export async function openApp(): Promise<App> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-app-'))
  const simulator = await startSimulator({ folder: path.join(folder, 'github') })
  const { github } = simulator
  for (const login of ['mona', 'lena']) github.addUser({ login })
  await github.addRepository({ owner: 'octo', name: 'parser' })
  github.setPermission(repo, 'mona', 'write')
  github.setPermission(repo, 'lena', 'read')
  await github.openIssue({ repo, author: 'mona', title: 'a', body: 'b' })
  const clock = { now: Date.now() }
  const ledger = openSqliteLedger({ dataDir: path.join(folder, 'data'), durability: 'durable', clock: () => clock.now })
  const limits: LimitValues = { ...defaults(), readBackGapMs: 20, writeGapMs: 0, retryWaitMs: 1_000, retryWaitMsMax: 60_000 }
  const app = createGitHubApp({
    ...{ apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, timeoutMs: 2_000 },
    now: () => clock.now,
  })
  const queue = createInProcessQueue()
  let tasks = 0
  const now = () => clock.now
  const intake: IntakePorts = {
    github: app,
    ledger,
    queue,
    now,
    link: null,
    allowedOwners: ['octo'],
    allowedBots: [],
    readSwitch: async () => 'on',
    newTaskId: () => `t_${++tasks}`,
    settings: async () => ({
      prefix: '/grok',
      profile: null,
      wallMs: 1_000,
      waitMs: 1_000,
      limits: { turnsMax: 1, wallMs: 1_000, tokensMax: 1, costMicroUsdMax: limits.costMicroUsdMax || null },
      subjectBytesMax: limits.subjectBytesMax,
      commandsPerCommentMax: limits.commandsPerCommentMax,
      commandTextBytesMax: limits.commandTextBytesMax,
      refusalQuietMs: limits.refusalQuietMs,
      botRunsPerHourMax: limits.botRunsPerHourMax,
      day: { repositoryDayMicroUsd: limits.repositoryDayMicroUsdMax || null, actorDayMicroUsd: limits.actorDayMicroUsdMax || null },
    }),
  }
  const stopping = new AbortController()
  const outbox: OutboxPorts = {
    ledger,
    github: app,
    markerKey: Buffer.alloc(32, 1),
    logger: silentLogger,
    limits: () => limits,
    backOff: createBackOff(() => limits, now),
    now,
    sleep: ms => new Promise(resolve => setTimeout(() => resolve('slept'), Math.min(ms, 50))),
    stop: stopping.signal,
  }
  const comments = () => [...(github.state.repositories.get(repo)?.comments.values() ?? [])]
  return {
    simulator,
    ledger,
    intake,
    outbox,
    stopping,
    clock,
    limits,
    async comment(body, author = 'mona') {
      const comment = await github.comment({ repo, number: 1, author, body })
      const payload = github.payload.issueComment('created', { repo, commentId: comment.id })
      await ledger.recordDelivery({
        id: `d-${comment.id}`,
        event: 'issue_comment',
        action: 'created',
        body: Buffer.from(JSON.stringify(payload)),
        receivedAt: clock.now,
      })
    },
    async take() {
      for (const delivery of await ledger.pendingDeliveries(100)) await takeDelivery(delivery, intake)
    },
    send: () => sendOutbox(outbox),
    ours: () =>
      comments()
        .filter(comment => comment.author?.login.endsWith('[bot]'))
        .map(comment => (comment.versions.at(-1)?.body ?? '').split('\n').slice(1).join('\n')),
    reactions: () =>
      github
        .requests()
        .filter(request => request.method === 'POST' && request.url.endsWith('/reactions'))
        .map(request => String((request.body as { content?: string } | null)?.content)),
    async close() {
      await queue.close()
      await ledger.close()
      await simulator.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function defaults(): LimitValues {
  return Object.fromEntries(Object.entries(limitTable).map(([name, limit]) => [name, limit.default])) as LimitValues
}
