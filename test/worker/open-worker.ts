import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { defaultLimits, type LimitValues } from '../../config-schema/index.ts'
import { foldTask, type NewEvent, type TaskAccepted, type TaskState } from '../../domain/index.ts'
import { createGitHubApp } from '../../github/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import type { WorkerPorts } from '../../worker/index.ts'

export const repo = 'octo/parser'
export const markerKey = Buffer.alloc(32, 1)

/** What the second half reaches, with a real ledger, a real git remote and a fake GitHub; our clock is the tests' to move. */
export type WorkerStage = {
  simulator: Simulator
  ledger: Ledger
  ports: WorkerPorts
  dataDir: string
  clock: { now: number }
  limits: LimitValues
  /** An accepted task of an issue, claimed by attempt 1. */
  claimed(taskId: string, askedAt?: string): Promise<TaskAccepted>
  append(taskId: string, attempt: number, ...events: NewEvent[]): Promise<void>
  state(taskId: string): Promise<TaskState>
  ours(): string[]
  close(): Promise<void>
}

export async function openWorker(aheadMs = 0): Promise<WorkerStage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-worker-'))
  const simulator = await startSimulator({ folder: path.join(folder, 'github') })
  simulator.github.addUser({ login: 'mona' })
  const repository = await simulator.github.addRepository({ owner: 'octo', name: 'parser' })
  await simulator.github.openIssue({ repo, author: 'mona', title: 'a', body: 'b' })
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  const clock = { now: Date.now() + aheadMs }
  const now = () => clock.now
  const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: now })
  const limits = { ...defaultLimits(), readBackGapMs: 20, writeGapMs: 0 }
  const { url, appId, appPrivateKey } = simulator.github
  const user = { uid: 61_999, gid: 61_999 }
  const ports: WorkerPorts = {
    ledger,
    dataDir,
    owner: 'worker-1',
    github: createGitHubApp({ apiUrl: url, appId: String(appId), privateKey: appPrivateKey, timeoutMs: 2_000 }),
    model: { baseUrl: '', apiKey: '', model: '' },
    settings: async () => ({ limits, operator: { version: 1 }, prefix: '/grok' }),
    user,
    tenants: 'one',
    userOfSlot: () => user,
    takeSlot: () => ({ slot: 0, release: () => undefined }),
    crashpoint: null,
    link: null,
    sessionPlace: 'here',
    markerKey,
    signer: null,
    progress: () => undefined,
    now,
    logger: silentLogger,
  }
  const accepted: TaskAccepted = {
    command: { verb: 'fix', text: '', index: 0 },
    requester: { login: 'mona', id: simulator.github.state.accounts.get('mona')?.id ?? 0 },
    repository: {
      id: Number(repository.id),
      owner: 'octo',
      name: 'parser',
      url: simulator.github.gitUrl('octo', 'parser'),
      visibility: 'public',
      defaultBranch: 'main',
    },
    installationId: [...simulator.github.state.installations.values()][0]?.id ?? 0,
    subject: { kind: 'issue', number: 1, title: 'a', body: 'b' },
    commentId: 1,
    base: { ref: 'main', sha: (await simulator.github.refs(repo))['refs/heads/main'] ?? '' },
    grant: { profile: 'workspace', capabilities: ['read'], effects: ['progress', 'comment', 'push', 'pull-request'] },
    limits: { turnsMax: 1, wallMs: 600_000, tokensMax: 1, costMicroUsdMax: null },
    delivery: 'github',
    deadlineAt: clock.now + 600_000,
  }
  const stage: WorkerStage = {
    simulator,
    ledger,
    ports,
    dataDir,
    clock,
    limits,
    async claimed(taskId, askedAt) {
      const payload = { ...accepted, ...(askedAt ? { askedAt } : {}) }
      const common = {
        taskId,
        meaningKey: taskId,
        laneKey: taskId,
        tenantKey: 'i1',
        priority: 0,
        needsWorker: true,
        actor: 'github:1',
        commandId: taskId,
      }
      await ledger.acceptTask({
        ...common,
        acceptedAt: clock.now,
        first: { type: 'task.accepted', payload },
        more: [],
        budgets: [],
      })
      const lease = { owner: 'worker-1', now: clock.now, leaseUntil: clock.now + limits.leaseMs, recoveriesMax: 5, deadOwners: [] }
      await ledger.claimTask(taskId, lease)
      await stage.append(taskId, 1, {
        type: 'attempt.started',
        commandId: taskId,
        payload: { owner: 'worker-1', recovers: null },
      })
      return payload
    },
    async append(taskId, attempt, ...events) {
      const expectedSeq = (await ledger.task(taskId))?.lastSeq ?? 0
      const result = await ledger.append({ taskId, attempt, actor: 'worker-1', at: clock.now, expectedSeq, events })
      if (result.kind !== 'appended') throw new Error(`not appended: ${result.kind}`)
    },
    state: async taskId => foldTask(await ledger.readEvents(taskId)),
    ours: () =>
      [...(simulator.github.state.repositories.get(repo)?.comments.values() ?? [])]
        .filter(comment => comment.author?.login.endsWith('[bot]'))
        .map(comment => (comment.versions.at(-1)?.body ?? '').split('\n').slice(1).join('\n')),
    async close() {
      await ledger.close()
      await simulator.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return stage
}
