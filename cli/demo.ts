import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { type Environment, modelEndpoint } from '../config-schema/index.ts'
import { foldTask, type TaskState } from '../domain/index.ts'
import { openSqliteLedger } from '../ledger/index.ts'
import { type FakeGitHub, startSimulator } from '../simulator/index.ts'
import { createLogger, silentLogger } from '../telemetry/index.ts'
import { evidenceOf } from '../worker/index.ts'
import { demoRepository, demoScript } from './demo-sample.ts'
import { exitCodeOf, exitCodes } from './exit.ts'
import { type Serving, startServe } from './start-serve.ts'
import { openDemoView } from './view/open-demo-view.ts'

export function define(command: Command, environment: Environment): void {
  command.option('--json', 'print one object, last').option('--keep', 'keep the data folder and say where it is')
  command.action((options: { json?: boolean; keep?: boolean }) => demo(options, environment))
}

const demoWallMs = 120_000
const webhookSecret = 'demo-webhook-secret'

/**
 * The main job on the embedded defaults: `serve`, a fake GitHub with a real repository whose test fails, a model (scripted,
 * or the configured one), and one signed comment.
 */
async function demo(options: { json?: boolean; keep?: boolean }, environment: Environment): Promise<void> {
  const startedAt = performance.now()
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
    const serving = await startServe({
      dataDir,
      host: '127.0.0.1',
      port: 0,
      github: { apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, webhookSecret },
      allowedOwners: ['octo'],
      model: modelEndpoint(environment) ?? { baseUrl: simulator.model.url, apiKey: 'demo', model: 'scripted' },
      environment,
      logger: environment.LOG_LEVEL ? createLogger(environment.LOG_LEVEL) : silentLogger,
      progress: (_, update) => view.progress(update),
    })
    const state = await comment(github, issue, serving, dataDir)
    await serving.close()
    view.close()
    report(state, dataDir, github, Math.round(performance.now() - startedAt), options)
  } finally {
    await simulator.close()
    if (options.keep) process.stderr.write(`data kept in ${folder}\n`)
    else await rm(folder, { recursive: true, force: true })
  }
}

async function prepareGitHub(github: FakeGitHub, folder: string) {
  const from = await demoRepository(folder)
  github.addUser({ login: 'mona' })
  await github.addRepository({ owner: 'octo', name: 'parser', from, private: true })
  github.setPermission('octo/parser', 'mona', 'write')
  return await github.openIssue({
    repo: 'octo/parser',
    author: 'mona',
    title: 'parser crashes on empty input',
    body: '`parse("")` throws a TypeError. It should return an empty list.',
  })
}

/** Posts the comment as GitHub does, and waits until the task it becomes has its outcome. */
async function comment(github: FakeGitHub, issue: { number: number }, serving: Serving, dataDir: string): Promise<TaskState> {
  const written = await github.comment({ repo: 'octo/parser', number: issue.number, author: 'mona', body: '/grok fix' })
  await github.deliver({
    event: 'issue_comment',
    payload: github.payload.issueComment('created', { repo: 'octo/parser', commentId: written.id }),
    to: serving.url,
  })
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  try {
    for (const until = Date.now() + demoWallMs; Date.now() < until; await sleep(50)) {
      const [task] = await ledger.tasks({ limit: 1 })
      if (task?.state === 'ended') return foldTask(await ledger.readEvents(task.taskId))
    }
  } finally {
    await ledger.close()
  }
  throw new Error(`the demo's task did not end within ${demoWallMs / 1000} s`)
}

function report(state: TaskState, dataDir: string, github: FakeGitHub, durationMs: number, options: { json?: boolean }): void {
  const outcome = state.outcome?.outcome ?? 'errored'
  const pull = Object.values(state.effects).find(effect => effect.kind === 'pull-request' && effect.state === 'confirmed')
  const remote = pull?.remote ?? {}
  const names = [...new Set(state.checks.newCodeNewTests.map(check => check.name))]
  const evidence = evidenceOf(state, names)
  const result = {
    outcome,
    pullRequest: pull
      ? { number: remote['number'], url: remote['url'], branch: state.commit?.branch, headSha: remote['headSha'], draft: remote['draft'] }
      : null,
    checksBefore: evidence.map(({ name, cells }) => ({ name, ...cells.baseCodeBaseTests })),
    checksAfter: evidence.map(({ name, cells }) => ({ name, ...cells.newCodeNewTests })),
    turns: state.session?.turns.length ?? 0,
    receipts: receiptCount(state),
    sandbox: { state: state.workspace?.sandbox.state ?? 'none' },
    bundle: path.join(dataDir, 'tasks', github ? (Object.keys(state.effects)[0]?.split(':')[0] ?? '') : '', 'bundle.json'),
    durationMs,
  }
  process.exitCode = exitCodeOf(outcome)
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
  else process.stdout.write(`${renderResult(state, github)}\n`)
  if (outcome === 'succeeded' && !pull) process.exitCode = exitCodes.failed
}

function receiptCount(state: TaskState): number {
  const calls = (state.session?.turns ?? []).flatMap(turn => turn.calls).filter(call => call.settled).length
  const checks = Object.values(state.checks).reduce((sum, results) => sum + results.length, 0)
  return (state.session?.turns.length ?? 0) + calls + checks + Object.values(state.effects).filter(effect => effect.remote).length
}

function renderResult(state: TaskState, github: FakeGitHub): string {
  const pull = [...(github.state.repositories.get('octo/parser')?.issues.values() ?? [])].find(issue => issue.pull)
  if (!pull) return `no pull request: ${state.outcome?.reason ?? 'no outcome'}`
  return ['', `pull request #${pull.number}: ${pull.title}${pull.pull?.draft ? ' (draft)' : ''}`, '', pull.body ?? ''].join('\n')
}
