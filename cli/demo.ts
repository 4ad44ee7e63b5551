import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { type Environment, modelEndpoint } from '../config-schema/index.ts'
import { foldTask, type TaskState } from '../domain/index.ts'
import { type Ledger, openSqliteLedger, type TaskRow } from '../ledger/index.ts'
import { type FakeGitHub, startSimulator } from '../simulator/index.ts'
import { createLogger, silentLogger } from '../telemetry/index.ts'
import { calledAs } from './called-as.ts'
import { type Distributed, recoveryMs, startDistributed } from './demo-distributed.ts'
import { keepDemoFiles, reportDemo, verifyDemo } from './demo-report.ts'
import { demoRepository, demoScript } from './demo-sample.ts'
import { type Serving, startServe } from './start-serve.ts'
import { openDemoView } from './view/open-demo-view.ts'

export function define(command: Command, environment: Environment): void {
  command
    .option('--json', 'print one object, last')
    .option('--keep', 'keep the data folder and say where it is')
    .option('--distributed', 'with Redis, an app and two workers, one of which is killed in the middle')
  command.action((options: DemoOptions) => demo(options, environment))
}

type DemoOptions = { json?: boolean; keep?: boolean; distributed?: boolean }

const demoWallMs = 120_000
const webhookSecret = 'demo-webhook-secret'
const repo = 'octo/parser'

/**
 * The main job on the embedded defaults: `serve`, a fake GitHub with a real repository whose test fails, a model (scripted,
 * or the configured one), and one signed comment.
 */
async function demo(options: DemoOptions, environment: Environment): Promise<void> {
  const startedAt = performance.now()
  let keep = options.keep ?? false
  const folder = await mkdtemp(path.join(tmpdir(), 'grokbot-demo-'))
  // The slot's user must be able to pass through it to its own folders.
  await chmod(folder, 0o711)
  const simulator = await startSimulator({ folder: path.join(folder, 'github'), github: { webhookSecret } })
  try {
    const { github } = simulator
    const issue = await prepareGitHub(github, folder)
    simulator.model.script(demoScript)
    const dataDir = path.join(folder, 'data')
    const view = openDemoView(environment)
    const place = {
      folder,
      dataDir,
      host: '127.0.0.1',
      port: 0,
      github: { apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, webhookSecret },
      allowedOwners: ['octo'],
      model: modelEndpoint(environment) ?? { baseUrl: simulator.model.url, apiKey: 'demo', model: 'scripted' },
      environment,
      logger: environment.LOG_LEVEL ? createLogger(environment.LOG_LEVEL) : silentLogger,
    }
    const serving = options.distributed
      ? await startDistributed({ ...place, note: view.note })
      : await startServe({ ...place, progress: (_, update) => view.progress(update) })
    const ended = await comment(github, issue, serving, dataDir).finally(() => serving.close())
    view.close()
    const reader = { callerDir: environment.GROKBOT_CALLER_DIR ?? process.cwd(), program: calledAs(environment) }
    const end = { ...ended, ...reader, dataDir, github, repo, durationMs: Math.round(performance.now() - startedAt) }
    const out = await keepDemoFiles(end)
    // Without a place for them the files stay where they are, and so does their folder.
    keep ||= out.problem !== null
    const verification = out.bundle === null ? null : await verifyDemo(end, out.bundle)
    reportDemo(end, out, verification, options.json ?? false)
  } finally {
    await simulator.close()
    if (keep) process.stderr.write(`data kept in ${folder}\n`)
    else await rm(folder, { recursive: true, force: true })
  }
}

async function prepareGitHub(github: FakeGitHub, folder: string) {
  const from = await demoRepository(folder)
  github.addUser({ login: 'mona' })
  await github.addRepository({ owner: 'octo', name: 'parser', from, private: true })
  github.setPermission(repo, 'mona', 'write')
  return await github.openIssue({
    repo,
    author: 'mona',
    title: 'parser crashes on empty input',
    body: '`parse("")` throws a TypeError. It should return an empty list.',
  })
}

/** Posts the comment as GitHub does, and waits until the task it becomes has its outcome. */
async function comment(
  github: FakeGitHub,
  issue: { number: number },
  serving: Serving | Distributed,
  dataDir: string,
): Promise<{ taskId: string; state: TaskState; recoveryMs: number | null }> {
  const written = await github.comment({ repo, number: issue.number, author: 'mona', body: '/grok fix' })
  await github.deliver({
    event: 'issue_comment',
    payload: github.payload.issueComment('created', { repo, commentId: written.id }),
    to: serving.url,
  })
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  try {
    const { taskId } = await waitFor(ledger, () => true)
    const killedAt = 'killWorker' in serving ? await serving.killWorker(taskId, ledger) : null
    await waitFor(ledger, ({ state }) => state === 'ended')
    const events = await ledger.readEvents(taskId)
    return { taskId, state: foldTask(events), recoveryMs: killedAt === null ? null : recoveryMs(events, killedAt) }
  } finally {
    await ledger.close()
  }
}

async function waitFor(ledger: Ledger, isThere: (task: TaskRow) => boolean): Promise<TaskRow> {
  for (const until = Date.now() + demoWallMs; Date.now() < until; await sleep(20)) {
    const [task] = await ledger.tasks({ limit: 1 })
    if (task && isThere(task)) return task
  }
  throw new Error(`the demo's task did not end within ${demoWallMs / 1000} s`)
}
