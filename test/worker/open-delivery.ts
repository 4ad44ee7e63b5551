import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { ulid } from 'ulid'
import { effectiveConfig } from '../../config-schema/index.ts'
import { type ChangedFile, cells, foldTask, type NewEvent, type TaskAccepted, type TaskState } from '../../domain/index.ts'
import { preparedEvent } from '../../effects/index.ts'
import { diffTrees, openMirror, openStore, resolveBase } from '../../git/index.ts'
import { createCheckRun } from '../../github/index.ts'
import { bringUp } from '../../worker/bring-up.ts'
import { decideEnd } from '../../worker/decide-end.ts'
import { deliver } from '../../worker/deliver.ts'
import { endBroken, endTask } from '../../worker/end-task.ts'
import { makeCommit } from '../../worker/make-commit.ts'
import type { TaskPlace } from '../../worker/open-task-workspace.ts'
import { startProgressComment } from '../../worker/progress-comment.ts'
import type { Base, Task } from '../../worker/task.ts'
import { openTaskLog } from '../../worker/task-log.ts'
import type { WorkerStage } from './open-worker.ts'

/** A task on a pull request, from the moment its change was proven: delivered and ended with real git, and without a session. */
export type Delivery = {
  repo: string
  number: number
  /** The pull request's head when the task was accepted. */
  head: string
  /** Delivers the change and ends the task; what happens `meanwhile` has happened since it was proven. */
  end(meanwhile?: () => Promise<unknown>): Promise<TaskState>
  taskId: string
  /** What the app's half does with the check run it prepared: makes it at GitHub and records that. */
  makeCheckRun(): Promise<void>
  checkRuns(): { name: string; headSha: string; externalId: string; status: string; conclusion: string | null; title: string | null }[]
  ours(): string[]
  refs(): Promise<Record<string, string>>
  git(...argv: string[]): Promise<string>
}

export type DeliveryOptions = {
  fork?: string
  /** The pull request's files, and the change's. */
  files?: Record<string, string>
  /** Null takes a file away. */
  change?: Record<string, string | { content: string | Buffer; mode: string } | null>
  /** Asked for on an issue of its own, so that it is delivered as a new branch. */
  issue?: boolean
  /** Of the default branch: in place of the sample's. */
  base?: Record<string, string>
  failing?: boolean
  /** Acceptance prepared one, as the app does. */
  checkRun?: boolean
  /** Another head than the pull request has. */
  head?: string
}

const files = { 'add.sh': 'echo $(($1 - $2))\n', 'check.sh': '[ "$(sh add.sh 1 2)" = 3 ]\n' }
const sandbox = { engine: 'bubblewrap', state: 'enforced', profile: 'workspace', missing: [] } as const
let repositories = 0

export async function openDelivery(stage: WorkerStage, options: DeliveryOptions = {}): Promise<Delivery> {
  const { simulator, ledger, ports, dataDir } = stage
  const { github } = simulator
  const name = `delivered-${++repositories}`
  const repo = `octo/${name}`
  const from = path.join(dataDir, '..', name)
  mkdirSync(from)
  for (const [file, content] of Object.entries({ ...files, ...options.base })) {
    mkdirSync(path.dirname(path.join(from, file)), { recursive: true })
    writeFileSync(path.join(from, file), content)
  }
  const repository = await github.addRepository({ owner: 'octo', name, from })
  github.setPermission(repo, 'mona', 'write')
  const { fork } = options
  if (fork) github.addUser({ login: fork })
  if (fork) await github.addRepository({ owner: fork, name, forkOf: repo })
  const author = fork ?? 'mona'
  const made = await github.commit({
    ...{ repo: fork ? `${fork}/${name}` : repo, branch: 'feature', from: 'main', author },
    files: options.files ?? { 'feature.txt': 'new\n' },
  })
  const onIssue = options.issue ?? false
  const issue = onIssue ? await github.openIssue({ repo, author, title: 'It subtracts', body: '' }) : null
  const main = (await github.refs(repo))['refs/heads/main'] ?? ''
  const head = options.head ?? (onIssue ? main : made)
  const { number } = issue ?? (await github.openPull({ repo, author, title: 'A feature', head: fork ? `${fork}:feature` : 'feature' }))
  const taskId = `t_${ulid()}`
  const base = (await github.refs(repo))['refs/heads/main'] ?? ''
  const accepted: TaskAccepted = {
    command: { verb: 'fix', text: '', index: 0 },
    requester: { login: 'mona', id: github.state.accounts.get('mona')?.id ?? 0 },
    repository: { id: repository.id, owner: 'octo', name, url: github.gitUrl('octo', name), visibility: 'public', defaultBranch: 'main' },
    installationId: [...github.state.installations.values()].find(({ account }) => account.login === 'octo')?.id ?? 0,
    subject: { kind: onIssue ? 'issue' : 'pull', number, title: 'A feature', body: '', trusted: true },
    commentId: null,
    askedAt: new Date(Date.now() - 60_000).toISOString(),
    ...(onIssue ? {} : { pull: { headSha: head, headRef: 'feature', baseRef: 'main', baseSha: base, fork: fork !== undefined } }),
    base: { ref: 'main', sha: base },
    grant: {
      profile: 'workspace',
      capabilities: ['read', 'write', 'run'],
      effects: ['progress', 'comment', 'reply', 'check-run', 'push', 'pull-request', 'review'],
    },
    limits: { turnsMax: 1, wallMs: 600_000, tokensMax: 1, costMicroUsdMax: null },
    delivery: 'github',
    deadlineAt: Date.now() + 600_000,
  }
  const common = { taskId, meaningKey: taskId, laneKey: taskId, tenantKey: 'i1', priority: 0, needsWorker: true, actor: 'github:1' }
  const first = { type: 'task.accepted' as const, payload: accepted }
  const place = { owner: 'octo', repo: name, repositoryId: repository.id, installationId: accepted.installationId ?? 0 }
  const queued = { checkRunId: null, status: 'queued', conclusion: null, title: 'queued', summary: 'Asked by @mona.' } as const
  const run = { ...place, headSha: head, name: 'grok / fix', externalId: taskId, ...queued }
  const checkRun = preparedEvent(taskId, { kind: 'check-run', ordinal: 1, intent: run })
  const more = options.checkRun ? [checkRun] : []
  await ledger.acceptTask({ ...common, commandId: taskId, acceptedAt: Date.now(), first, more, budgets: [] })
  const lease = { owner: 'worker-1', now: Date.now(), leaseUntil: Date.now() + 600_000, recoveriesMax: 5, deadOwners: [] }
  await ledger.claimTask(taskId, lease)
  const task = await openTask(stage, taskId, accepted)
  const ours = () =>
    [...(github.state.repositories.get(repo)?.comments.values() ?? [])]
      .filter(comment => comment.author?.login.endsWith('[bot]'))
      .map(comment => (comment.versions.at(-1)?.body ?? '').split('\n').slice(1).join('\n'))
  return {
    ...{ repo, number, head, taskId, ours },
    async makeCheckRun() {
      const { token } = (await ports.github?.mint({ ...place, permissions: { checks: 'write' } })) ?? { token: '' }
      const api = ports.github?.api(token)
      const made = api ? await createCheckRun(api, place, run) : { id: 0, url: '' }
      const effect = checkRun.payload.effectId
      const settled = {
        effectId: effect,
        state: 'confirmed' as const,
        remote: { id: made.id, url: made.url },
        reason: '',
        foundByReadBack: false,
      }
      const events: NewEvent[] = [
        { type: 'effect.dispatched', commandId: 'd', payload: { effectId: effect, try: 1 } },
        { type: 'effect.settled', commandId: 's', payload: settled },
      ]
      const expectedSeq = (await ledger.task(taskId))?.lastSeq ?? 0
      const appended = await ledger.append({ taskId, attempt: 0, actor: 'app', at: Date.now(), expectedSeq, events })
      if (appended.kind !== 'appended') throw new Error(`the app could not record its check run: ${appended.kind}`)
    },
    checkRuns: () =>
      [...(github.state.repositories.get(repo)?.checkRuns.values() ?? [])].map(
        ({ name: called, headSha, externalId, status, conclusion, output }) => ({
          name: called,
          headSha,
          externalId,
          status,
          conclusion,
          title: output.title,
        }),
      ),
    refs: () => github.refs(repo),
    git: async (...argv) =>
      (await execa('git', ['--git-dir', github.state.repositories.get(repo)?.folder ?? '', '-c', 'safe.directory=*', ...argv])).stdout,
    async end(meanwhile) {
      const start = { sha: head }
      const mirror = await openMirror({ dataDir, tenant: 'i1', repositoryId: repository.id, wallMs: 60_000 })
      try {
        await bringUp(task, mirror, start)
        const store = openStore({ dataDir, mirror, taskId })
        const found = await resolveBase(mirror, head)
        const baseTree = found.kind === 'found' ? found.tree : ''
        const tree = await treeWith(store.path, baseTree, options.change ?? { 'add.sh': 'echo $(($1 + $2))\n' })
        const change = { tree, files: (await diffTrees(store, baseTree, tree)).files, leftOut: [], refused: [] }
        await task.log.record(...proven(head, baseTree, change, options.failing ?? false))
        await meanwhile?.()
        const config = effectiveConfig({ version: 1 }, { kind: 'absent' })
        const none = { commands: [], source: 'none' } as const
        const plan = { setup: none, checks: none, egress: [], privateEgress: [], instructions: [] }
        const settled: Base = { mirror, store, sha: base, start, config, limits: accepted.limits, ...plan }
        const commit = await makeCommit(task, settled, change)
        const place = { workspace: { baseTree } } as TaskPlace
        await endTask(task, decideEnd(task.log.state(), await deliver(task, settled, commit, place)))
      } catch (error) {
        await endBroken(task, error)
      }
      return foldTask(await ports.ledger.readEvents(taskId))
    },
  }
}

async function openTask(stage: WorkerStage, id: string, accepted: TaskAccepted): Promise<Task> {
  const { ports, dataDir } = stage
  const log = await openTaskLog(ports.ledger, { taskId: id, attempt: 1, actor: 'worker-1', now: ports.now })
  await log.record({ type: 'attempt.started', commandId: id, payload: { owner: 'worker-1', recovers: null } })
  const settings = await ports.settings()
  const stop = new AbortController().signal
  const room = { prepare: () => undefined, run: () => Promise.reject(new Error('no session here')), close: async () => undefined }
  const taskDir = path.join(dataDir, 'tasks', id)
  const rest = { deadlineAt: accepted.deadlineAt, runDir: path.join(dataDir, 'runs', id), taskDir, clearDeadline: () => undefined }
  const task = { id, attempt: 1, accepted, walk: 'whole', log, ports, settings, stop, probe: null, room, ...rest } as const
  return { ...task, comment: startProgressComment(task) }
}

type ChangeOf = { tree: string; files: ChangedFile[]; leftOut: never[]; refused: never[] }

function proven(head: string, baseTree: string, change: ChangeOf, failing: boolean): NewEvent[] {
  const check = (cell: (typeof cells)[number]): NewEvent => {
    const ran = {
      name: 'sh check.sh',
      command: 'sh check.sh',
      source: 'configured',
      tree: change.tree,
      counts: null,
      killedBy: null,
    } as const
    const exitCode = failing ? 1 : 0
    const output = {
      output: failing ? 'not 3\n' : '',
      outputBytes: 0,
      outputHash: '',
      cached: false,
      durationMs: 1,
      sandbox: { ...sandbox, missing: [] },
    }
    return { type: 'check.settled', commandId: cell, payload: { cell, ...ran, exitCode, ...output } }
  }
  const opened = { baseSha: head, baseTree, files: 3, sandbox: { ...sandbox, missing: [] } }
  const verdict = failing
    ? { verdict: 'unproven' as const, reasons: ['`sh check.sh` fails on the new code (exit 1)'] }
    : { verdict: 'proven' as const, reasons: [] }
  return [
    { type: 'workspace.opened', commandId: 'w', payload: opened },
    { type: 'session.ended', commandId: 's', payload: { reason: 'answer', text: 'Add instead of subtracting', turns: 1 } },
    { type: 'change.collected', commandId: 'c', payload: change },
    ...cells.map(check),
    { type: 'change.judged', commandId: 'j', payload: verdict },
  ]
}

/** A tree of the store with these files in place of its own. */
async function treeWith(store: string, tree: string, changed: NonNullable<DeliveryOptions['change']>): Promise<string> {
  const env = { GIT_INDEX_FILE: path.join(store, 'test.index') }
  const git = async (argv: string[], input?: string | Buffer) =>
    (await execa('git', ['--git-dir', store, ...argv], { env, ...(input === undefined ? {} : { input }) })).stdout
  await git(['read-tree', tree])
  for (const [file, given] of Object.entries(changed)) {
    if (given === null) {
      await git(['update-index', '--index-info'], `0 ${'0'.repeat(40)}\t${file}\n`)
      continue
    }
    const { content, mode } = typeof given === 'string' ? { content: given, mode: '100644' } : given
    const blob = await git(['hash-object', '-w', '--stdin'], content)
    await git(['update-index', '--add', '--cacheinfo', `${mode},${blob},${file}`])
  }
  return await git(['write-tree'])
}
