import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { startServe } from '../../cli/start-serve.ts'
import { foldTask, type TaskState } from '../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { type ModelTurn, type Simulator, startSimulator } from '../../simulator/index.ts'
import { silentLogger } from '../../telemetry/index.ts'

/**
 * One `serve` in this process, whose tasks come from comments on issues and pull requests of a fake GitHub. Each scene has a
 * repository of its own, so that one stage is enough for a file.
 */
export type ServeStage = {
  simulator: Simulator
  ledger: Ledger
  dataDir: string
  /** Where webhooks go; another address after a restart. */
  url(): string
  /** Tells the process to go, as SIGTERM does, and starts another one with the same data folder. */
  restart(): Promise<void>
  /** `octo/<name>` with the sample's files and these on `main`. */
  repository(name: string, files?: Files): Promise<Repo>
  close(): Promise<void>
}

export type Files = Readonly<Record<string, string>>
export type Repo = {
  name: string
  /** A branch with these files, and a pull request from it; `fork`: whose account it lies in. */
  pull(given?: { files?: Files; branch?: string; fork?: string; author?: string }): Promise<number>
  /** Says it there and waits for the task's end. */
  say(number: number, body: string, play: Play): Promise<TaskState>
  /** The same on a line of the pull request's diff; `threadId` is the comment's. */
  sayOnLine(number: number, body: string, at: { path: string; line: number }, play: Play): Promise<{ state: TaskState; threadId: number }>
  /** Our comments on it, without their markers. */
  ours(number: number): string[]
  /** Check runs of the repository, oldest first. */
  checkRuns(): CheckRunSeen[]
  /** What stands on a branch; null = there is no such branch. */
  branch(name: string): Promise<{ sha: string; parent: string; files: Record<string, string>; message: string } | null>
  git(...argv: string[]): Promise<string>
}
export type CheckRunSeen = {
  name: string
  headSha: string
  externalId: string
  status: string
  conclusion: string | null
  title: string | null
  summary: string | null
  buttons: string[]
}
export type Play = {
  turns: readonly ModelTurn[]
  /** The model's last words. */
  words?: string
  /** Happens while the session runs, and is over before the model says its last words. */
  during?(): Promise<unknown>
}

export const sampleFiles: Files = {
  '.github/grok.yml': 'version: 1\nsetup: []\nchecks: [sh check.sh]\n',
  'add.sh': 'echo $(($1 - $2))\n',
  'check.sh': '[ "$(sh add.sh 1 2)" = 3 ]\n',
  'notes.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n',
}
export const write = (file: string, content: string): ModelTurn => ({
  toolCalls: [{ name: 'write', arguments: { file_path: file, content } }],
})
export const goodFix = write('add.sh', 'echo $(($1 + $2))\n')

const webhookSecret = 'serve-stage-webhook-secret'
/** The uid of this test process's sandboxes. */
const uidBase = 64_900 + (process.pid % 600)
const endWallMs = 110_000

/** `pages`: where its run pages are reached from outside, which no test does; without it nothing links to them. */
export async function openServe(operator: object = {}, pages?: string): Promise<ServeStage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-serve-'))
  chmodSync(folder, 0o711)
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  const limits = { deliveryDrainMs: 20, sweepMs: 300, livenessMs: 200, readBackGapMs: 50, writeGapMs: 0, progressAfterMs: 60_000 }
  writeFileSync(path.join(dataDir, 'operator.yml'), JSON.stringify({ version: 1, limits, sandbox: { uidBase }, ...operator }))
  const simulator = await startSimulator({ folder: path.join(folder, 'github'), github: { webhookSecret } })
  const { github } = simulator
  for (const login of ['mona', 'lena', 'ravi']) github.addUser({ login })
  const start = () =>
    startServe({
      dataDir,
      host: '127.0.0.1',
      port: 0,
      github: { apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, webhookSecret },
      allowedOwners: ['octo'],
      model: { baseUrl: simulator.model.url, apiKey: 'none', model: 'scripted' },
      environment: { GROKBOT_DATA: dataDir, ...(pages ? { GROKBOT_URL: pages } : {}) },
      logger: silentLogger,
      progress: () => undefined,
    })
  let serving = await start()
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  return {
    simulator,
    ledger,
    dataDir,
    url: () => serving.url,
    async restart() {
      await serving.close()
      serving = await start()
    },
    repository: (name, files = {}) => openRepo({ name, files, folder, simulator, url: () => serving.url, ledger }),
    async close() {
      await serving.close()
      await ledger.close()
      await simulator.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type RepoOptions = { name: string; files: Files; folder: string; simulator: Simulator; url(): string; ledger: Ledger }

async function openRepo({ name, files, folder, simulator, url, ledger }: RepoOptions): Promise<Repo> {
  const { github, model } = simulator
  const repo = `octo/${name}`
  await github.addRepository({ owner: 'octo', name, from: writeFiles(path.join(folder, name), { ...sampleFiles, ...files }) })
  github.setPermission(repo, 'mona', 'write')
  github.setPermission(repo, 'lena', 'read')
  const bare = () => github.state.repositories.get(repo.toLowerCase())?.folder ?? ''
  const git = async (...argv: string[]) =>
    (await execa('git', ['--git-dir', bare(), '-c', 'safe.directory=*', ...argv], { stripFinalNewline: true })).stdout

  async function asked(play: Play, deliver: () => Promise<unknown>): Promise<TaskState> {
    model.script(playing(play))
    const before = new Set((await ledger.tasks({ limit: 500 })).map(task => task.taskId))
    await deliver()
    for (const until = Date.now() + endWallMs; Date.now() < until; await sleep(50)) {
      const task = (await ledger.tasks({ limit: 500 })).find(each => !before.has(each.taskId))
      if (task?.state === 'ended') return foldTask(await ledger.readEvents(task.taskId))
    }
    throw new Error(`${name}: no task ended`)
  }

  return {
    name: repo,
    git,
    async pull({ files: changed = { 'feature.txt': 'new\n' }, branch = 'feature', fork, author = 'mona' } = {}) {
      if (fork) await github.addRepository({ owner: fork, name, forkOf: repo })
      await github.commit({ repo: fork ? `${fork}/${name}` : repo, branch, from: 'main', files: changed, author: fork ?? author })
      const head = fork ? `${fork}:${branch}` : branch
      return (await github.openPull({ repo, author: fork ?? author, title: 'A feature', body: 'See the diff.', head })).number
    },
    async say(number, body, play) {
      const comment = await github.comment({ repo, number, author: 'mona', body })
      const payload = github.payload.issueComment('created', { repo, commentId: comment.id })
      return await asked(play, () => github.deliver({ event: 'issue_comment', payload, to: url() }))
    },
    async sayOnLine(number, body, at, play) {
      const comment = await github.reviewComment({ repo, number, author: 'mona', body, ...at })
      const payload = await github.payload.pullRequestReviewComment('created', { repo, commentId: comment.id })
      const state = await asked(play, () => github.deliver({ event: 'pull_request_review_comment', payload, to: url() }))
      return { state, threadId: comment.id }
    },
    ours: number =>
      [...(github.state.repositories.get(repo)?.comments.values() ?? [])]
        .filter(comment => comment.issueNumber === number && comment.author?.login.endsWith('[bot]'))
        .map(comment => withoutMarker(comment.versions.at(-1)?.body ?? '')),
    checkRuns: () =>
      [...(github.state.repositories.get(repo)?.checkRuns.values() ?? [])].map(
        ({ name: called, headSha, externalId, status, conclusion, output, actions }) => ({
          ...{ name: called, headSha, externalId, status, conclusion, title: output.title, summary: output.summary },
          buttons: actions.map(action => action.identifier),
        }),
      ),
    async branch(branch) {
      const sha = (await github.refs(repo))[`refs/heads/${branch}`]
      if (!sha) return null
      const names = (await git('ls-tree', '-r', '--name-only', sha)).split('\n')
      const contents = await Promise.all(names.map(async file => [file, `${await git('cat-file', 'blob', `${sha}:${file}`)}\n`] as const))
      const parent = await git('rev-parse', '--verify', '--quiet', `${sha}^`).catch(() => '')
      return { sha, parent, files: Object.fromEntries(contents), message: await git('log', '-1', '--format=%B', sha) }
    },
  }
}

export function withoutMarker(body: string): string {
  return body.split('\n').slice(1).join('\n')
}

/** What happens meanwhile has begun with the first turn; until it is over, the model looks for things that are not there. */
function playing({ turns, words = 'Add instead of subtracting', during }: Play): (request: unknown, position: number) => ModelTurn | null {
  let state: 'not begun' | 'under way' | 'over' | Error = 'not begun'
  return (_, position) => {
    if (state === 'not begun' && during) {
      state = 'under way'
      during().then(
        () => {
          state = 'over'
        },
        error => {
          state = error
        },
      )
    }
    const turn = turns[position]
    if (turn) return turn
    if (state instanceof Error) return { text: `the scene failed: ${state.message}` }
    if (state !== 'under way') return { text: words }
    return {
      toolCalls: [{ name: 'grep', arguments: { pattern: `waiting-${position}` } }],
      fault: { kind: 'latency', ms: 30 },
    }
  }
}

function writeFiles(folder: string, files: Files): string {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true })
    writeFileSync(path.join(folder, name), content)
  }
  return folder
}
