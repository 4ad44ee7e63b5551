import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EventType, findChainFault, foldTask, type TaskState } from '../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { type ModelScript, type Simulator, startSimulator, type TurnFunction } from '../../simulator/index.ts'
import { program } from '../program.ts'
import type { CutLine } from './cut-line.ts'

export const repo = 'octo/parser'
const webhookSecret = 'stage-webhook-secret'
/** The uid of this test process's sandboxes: nobody else on the machine has it, so whatever runs as it is ours. */
const slotUid = 62_000 + (process.pid % 2_000)

/**
 * Everything around one `serve` process that a test may kill: the fake GitHub and model live in the test's own process and
 * so remember what the killed one did.
 */
export type Stage = {
  simulator: Simulator
  dataDir: string
  /** Starts `serve`; `crashpoint` is where it will kill itself. Resolves once it listens. */
  serve(crashpoint?: string): Promise<Server>
  /** Starts one process of the distributed form; needs a stage that was opened with a Redis. */
  start(command: 'app' | 'worker', crashpoint?: string): Promise<Server>
  /** An issue beside the first one, under its number. */
  openIssue(): Promise<number>
  /** A pull request of a branch of its own, with the stage's files in its head. */
  openPull(branch: string): Promise<number>
  /** Returns the comment's id. */
  comment(body: string, author?: string, number?: number): Promise<number>
  /** The same on the first line of the diff of the stage's pull request. */
  commentOnLine(body: string, number?: number): Promise<number>
  waitForEvent(type: EventType): Promise<void>
  /** Replaces the operator's file while processes run. */
  writeOperator(text: string): void
  /** The last delivery again, under its own id. */
  redeliver(): Promise<void>
  ledger: Ledger
  /** How often each command of the script really ran in a task: appended by the commands themselves to a file in the agent's home. */
  runCounts(taskId: string): Record<string, number>
  close(): Promise<void>
}

export type Server = {
  process: ChildProcess
  url: string
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  log(): string
  /** Resolves once this stands in its log. */
  logged(text: string): Promise<void>
}

export type StageOptions = {
  script: ModelScript | TurnFunction
  files: Readonly<Record<string, string>>
  operator?: object
  /** Beside the stage's own short ones. */
  limits?: Readonly<Record<string, number>>
  issueAuthor?: string
  /** A pull request beside the issue, with these files in its head, from a branch here or from a fork. */
  pull?: { files: Readonly<Record<string, string>>; fork: boolean }
  /** Where the bell of the distributed form hangs. */
  redisUrl?: string
  /** Stands between the processes and both fakes. */
  line?: CutLine
}

/** What any user could write into the operator's file; the waits of production would make each run take a minute. */
const shortLimits = {
  readBackGapMs: 100,
  writeGapMs: 0,
  leaseMs: 3_000,
  sweepMs: 300,
  livenessMs: 100,
  deliveryDrainMs: 50,
  progressAfterMs: 300,
  progressGapMs: 500,
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-stage-'))
  chmodSync(folder, 0o711)
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  writeFileSync(
    path.join(dataDir, 'operator.yml'),
    JSON.stringify({ version: 1, limits: { ...shortLimits, ...options.limits }, sandbox: { uidBase: slotUid }, ...options.operator }),
  )
  const simulator = await startSimulator({ folder: path.join(folder, 'github'), github: { webhookSecret } })
  await prepareGitHub(simulator, folder, options)
  simulator.model.script(options.script)
  const servers = new Set<ChildProcess>()
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  let url = ''
  let last: { event: string; payload: object; id: string } | null = null
  const counter = watchCounter(dataDir)
  options.line?.lead({ github: simulator.github.url, model: simulator.model.url })
  const settings = settingsOf(simulator, dataDir, options)
  async function start(command: keyof typeof settings, crashpoint?: string) {
    const server = await startProcess(command, settings[command], crashpoint)
    servers.add(server.process)
    if (command !== 'worker') url = server.url
    return server
  }
  return {
    simulator,
    dataDir,
    ledger,
    runCounts: counter.counts,
    serve: crashpoint => start('serve', crashpoint),
    start,
    openIssue: async () =>
      (await simulator.github.openIssue({ repo, author: 'mona', title: 'parser crashes', body: 'On empty input.' })).number,
    openPull: branch => openPull(simulator, branch, options.pull?.files ?? {}),
    async comment(body, author = 'mona', number = 1) {
      const comment = await simulator.github.comment({ repo, number, author, body })
      const payload = simulator.github.payload.issueComment('created', { repo, commentId: comment.id })
      last = { event: 'issue_comment', payload, id: deliveryOf(comment.id) }
      await simulator.github.deliver({ to: url, ...last })
      return comment.id
    },
    async commentOnLine(body, number = 2) {
      const path = Object.keys(options.pull?.files ?? {})[0] ?? ''
      const comment = await simulator.github.reviewComment({ repo, number, author: 'mona', body, path, line: 1 })
      const payload = await simulator.github.payload.pullRequestReviewComment('created', { repo, commentId: comment.id })
      last = { event: 'pull_request_review_comment', payload, id: deliveryOf(comment.id) }
      await simulator.github.deliver({ to: url, ...last })
      return comment.id
    },
    async waitForEvent(type) {
      for (const until = Date.now() + eventWallMs; Date.now() < until; await sleep(20)) {
        for (const { taskId } of await ledger.tasks({ limit: 10 }))
          if ((await ledger.readEvents(taskId)).some(event => event.type === type)) return
      }
      throw new Error(`no ${type} within ${eventWallMs} ms`)
    },
    writeOperator: text => writeFileSync(path.join(dataDir, 'operator.yml'), text),
    async redeliver() {
      if (last) await simulator.github.deliver({ to: url, ...last })
    },
    async close() {
      counter.stop()
      for (const server of servers) server.kill('SIGKILL')
      await ledger.close()
      await simulator.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const eventWallMs = 90_000
const deliveryOf = (commentId: number) => `00000000-0000-4000-8000-${String(commentId).padStart(12, '0').slice(-12)}`

async function prepareGitHub({ github }: Simulator, folder: string, { files, issueAuthor = 'mona', pull }: StageOptions) {
  const from = path.join(folder, 'sample')
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.join(from, path.dirname(name)), { recursive: true })
    writeFileSync(path.join(from, name), content)
  }
  github.addUser({ login: 'mona' })
  github.addUser({ login: 'lena' })
  await github.addRepository({ owner: 'octo', name: 'parser', from })
  github.setPermission(repo, 'mona', 'write')
  github.setPermission(repo, 'lena', 'read')
  await github.openIssue({ repo, author: issueAuthor, title: 'parser crashes on empty input', body: 'It should return an empty list.' })
  // What is pushed is read from git's own log by whoever takes stock.
  execFileSync('git', ['-C', github.state.repositories.get(repo)?.folder ?? '', 'config', 'core.logAllRefUpdates', 'always'])
  if (!pull) return
  if (pull.fork) await github.addRepository({ owner: 'lena', name: 'parser', forkOf: repo })
  const author = pull.fork ? 'lena' : 'mona'
  await github.commit({ repo: pull.fork ? 'lena/parser' : repo, branch: 'feature', from: 'main', files: { ...pull.files }, author })
  await github.openPull({ repo, author, title: 'A parser', head: pull.fork ? 'lena:feature' : 'feature' })
}

async function openPull({ github }: Simulator, branch: string, files: Readonly<Record<string, string>>): Promise<number> {
  await github.commit({ repo, branch, from: 'main', files: { ...files }, author: 'mona' })
  return (await github.openPull({ repo, author: 'mona', title: 'A parser', head: branch })).number
}

/** One process of the program, with its log; resolves when it says what it says once it is ready, or was killed before. */
async function startProcess(command: string, settings: Readonly<Record<string, string>>, crashpoint: string | undefined): Promise<Server> {
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'] ?? '', ...settings, ...(crashpoint ? { GROKBOT_CRASHPOINT: crashpoint } : {}) }
  const child = spawn(process.execPath, [program, command], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const lines: string[] = []
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(done =>
    child.on('exit', (code, signal) => done({ code, signal })),
  )
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', line => {
      lines.push(line)
      const match = /"url":"([^"]+)"/.exec(line)
      if (match) resolve(match[1] as string)
      else if (line.includes('waiting for tasks')) resolve('')
    })
    exited.then(({ code, signal }) =>
      signal === 'SIGKILL' ? resolve('') : reject(new Error(`${command} ended with ${code ?? signal}:\n${lines.join('\n')}`)),
    )
  })
  return { process: child, url, exited, log: () => lines.join('\n'), logged: text => waitForLine(lines, text) }
}

async function waitForLine(lines: readonly string[], text: string): Promise<void> {
  for (const until = Date.now() + eventWallMs; Date.now() < until; await sleep(20)) if (lines.some(line => line.includes(text))) return
  throw new Error(`no "${text}" within ${eventWallMs} ms:\n${lines.join('\n')}`)
}

/** The settings of each kind of process, as an operator would give them: only who needs a secret has it. */
function settingsOf({ github, model }: Simulator, dataDir: string, { redisUrl, line }: StageOptions) {
  const common = {
    HOST: '127.0.0.1',
    PORT: '0',
    GROKBOT_DATA: dataDir,
    ALLOWED_OWNERS: 'octo',
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
  }
  const app = {
    ...common,
    APP_ID: String(github.appId),
    PRIVATE_KEY: github.appPrivateKey,
    WEBHOOK_SECRET: webhookSecret,
    GHE_API_URL: line?.githubUrl ?? github.url,
  }
  const worker = {
    ...common,
    OPENAI_BASE_URL: line?.modelUrl ?? model.url,
    OPENAI_API_KEY: 'stage-model-key-0123456789',
    OPENAI_MODEL: 'scripted',
  }
  return { serve: { ...app, ...worker }, app, worker }
}

/** Follows the counter files of all attempts while they exist: an attempt's home is removed with it. */
function watchCounter(dataDir: string) {
  const latest = new Map<string, string>()
  const look = () => {
    for (const file of counterFiles(path.join(dataDir, 'runs'))) {
      try {
        latest.set(file, readFileSync(file, 'utf8'))
      } catch {
        // Removed between listing and reading: what was read before stays.
      }
    }
  }
  const timer = setInterval(look, 5)
  return {
    stop: () => clearInterval(timer),
    counts(taskId: string) {
      look()
      const counts: Record<string, number> = {}
      for (const [file, text] of latest)
        if (file.includes(taskId)) for (const id of text.split('\n').filter(Boolean)) counts[id] = (counts[id] ?? 0) + 1
      return counts
    },
  }
}

function counterFiles(runs: string): string[] {
  const list = (folder: string) => {
    try {
      return readdirSync(folder)
    } catch {
      return []
    }
  }
  return list(runs).flatMap(task =>
    list(path.join(runs, task)).map(attempt => path.join(runs, task, attempt, 'session', 'home', 'counter')),
  )
}

export async function waitForEnd(ledger: Ledger, wallMs: number): Promise<TaskState | null> {
  for (const until = Date.now() + wallMs; Date.now() < until; await sleep(25)) {
    const tasks = await ledger.tasks({ limit: 10 })
    if (tasks.length > 0 && tasks.every(task => task.state === 'ended'))
      return foldTask(await ledger.readEvents(tasks.at(-1)?.taskId ?? ''))
  }
  return null
}

export async function chainFault(ledger: Ledger) {
  for (const { taskId } of await ledger.tasks({ limit: 10 })) {
    const record = await ledger.readRecord(taskId)
    const fault = findChainFault(
      taskId,
      record.entries.map(({ header }) => header),
    )
    if (fault) return { taskId, ...fault }
  }
  return null
}

/**
 * Processes that still run in a sandbox of this stage: as its slot's uid, or with a folder of its data mounted. The second
 * also finds them where everything is one user's.
 */
export function leftProcesses({ dataDir }: Pick<Stage, 'dataDir'>): string[] {
  const folder = path.basename(path.dirname(dataDir))
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        if (/^State:\s+[ZX]/m.test(status)) return []
        const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
        const inside = uid === slotUid || readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(folder)
        return inside ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`] : []
      } catch {
        // Ended while we looked, or another user's: neither is ours.
        return []
      }
    })
}

/** Dying takes a moment: what is still there after it was not ended. */
export async function leftAfterAll(stage: Pick<Stage, 'dataDir'>): Promise<string[]> {
  for (const until = Date.now() + dyingMs; Date.now() < until; await sleep(50)) if (leftProcesses(stage).length === 0) return []
  return leftProcesses(stage)
}

const dyingMs = 3_000
