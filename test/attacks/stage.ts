import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { type Serving, startServe } from '../../cli/start-serve.ts'
import { foldTask, type TaskState } from '../../domain/index.ts'
import { type Ledger, openSqliteLedger } from '../../ledger/index.ts'
import { type ModelTurn, type Simulator, startSimulator } from '../../simulator/index.ts'
import { silentLogger } from '../../telemetry/index.ts'

/**
 * One `serve` in this process, with canaries in every place a credential or a stranger's data can be, and a model that does
 * whatever the row says. Rows run one after another; what left is searched afterwards.
 */
export type AttackStage = {
  simulator: Simulator
  dataDir: string
  /** A folder of the host outside everything: nothing in it may be read, changed or made. */
  hostDir: string
  canaries: Readonly<Record<string, string>>
  /** Makes a repository with these files, an issue, the comment, and waits for the outcome. */
  attack(row: Attack): Promise<Result>
  close(): Promise<void>
}

export type Files = Readonly<Record<string, string | { link: string }>>
export type Attack = {
  files?: Files
  title?: string
  body?: string
  /** Who wrote the issue: mona may write, lena may only read. */
  author?: 'mona' | 'lena'
  /** The model's last words. */
  words?: string
  plays: readonly ModelTurn[]
}
export type Result = {
  state: TaskState
  /** Texts the model was shown as tool results, in order. */
  results: string[]
  pull: { title: string; body: string; draft: boolean } | null
  /** Paths of the pushed tree with mode and content hash; empty when nothing was pushed. */
  pushed: Record<string, string>
  /** The message of the pushed commit, byte by byte; '' when nothing was pushed. */
  message: string
}

const secret = (name: string) => `canary-${name}-${Buffer.from(name).toString('hex')}-0123456789abcdef`
export const sampleFiles: Files = {
  'package.json': `${JSON.stringify({ name: 'sample', version: '1.0.0', private: true, scripts: { test: 'node --test' } })}\n`,
  'sum.js': 'exports.sum = (a, b) => a - b\n',
  'sum.test.js': [
    "const { test } = require('node:test')",
    "const assert = require('node:assert')",
    "const { sum } = require('./sum.js')",
    "test('adds', () => assert.strictEqual(sum(1, 2), 3))",
    "test('adds nothing', () => assert.strictEqual(sum(1, 0), 1))",
    '',
  ].join('\n'),
}
export const goodFix: ModelTurn = {
  toolCalls: [{ name: 'write', arguments: { file_path: 'sum.js', content: 'exports.sum = (a, b) => a + b\n' } }],
}

export async function openAttackStage(): Promise<AttackStage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-attacks-'))
  chmodSync(folder, 0o711)
  const hostDir = path.join(folder, 'host')
  mkdirSync(hostDir, { mode: 0o755 })
  const canaries = {
    webhookSecret: secret('webhook'),
    modelKey: secret('model'),
    environment: secret('environment'),
    hostFile: secret('host-file'),
  }
  writeFileSync(path.join(hostDir, 'secret.txt'), canaries.hostFile, { mode: 0o644 })
  process.env['GROKBOT_ATTACK_CANARY'] = canaries.environment
  const simulator = await startSimulator({ folder: path.join(folder, 'github'), github: { webhookSecret: canaries.webhookSecret } })
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  const uidBase = 64_000 + (process.pid % 900)
  writeFileSync(
    path.join(dataDir, 'operator.yml'),
    JSON.stringify({ version: 1, limits: { deliveryDrainMs: 20, sweepMs: 300, livenessMs: 200 }, sandbox: { uidBase } }),
  )
  const { github } = simulator
  const serving = await startServe({
    dataDir,
    host: '127.0.0.1',
    port: 0,
    github: { apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, webhookSecret: canaries.webhookSecret },
    allowedOwners: ['octo'],
    model: { baseUrl: simulator.model.url, apiKey: canaries.modelKey, model: 'obeys' },
    environment: { GROKBOT_DATA: dataDir },
    logger: silentLogger,
    progress: () => undefined,
  })
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: Date.now })
  for (const login of ['mona', 'lena']) github.addUser({ login })
  let number = 0
  return {
    simulator,
    dataDir,
    hostDir,
    canaries,
    async attack(row) {
      number += 1
      return await play({ row, name: `row-${number}`, folder, simulator, serving, ledger })
    },
    async close() {
      await serving.close()
      await ledger.close()
      await simulator.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Play = { row: Attack; name: string; folder: string; simulator: Simulator; serving: Serving; ledger: Ledger }
const endWallMs = 90_000

async function play({ row, name, folder, simulator, serving, ledger }: Play): Promise<Result> {
  const { github, model } = simulator
  const repo = `octo/${name}`
  await github.addRepository({ owner: 'octo', name, from: writeFiles(path.join(folder, name), { ...sampleFiles, ...row.files }) })
  github.setPermission(repo, 'mona', 'write')
  github.setPermission(repo, 'lena', 'read')
  const { author = 'mona', title = 'the sum is wrong', body = 'See the tests.' } = row
  const issue = await github.openIssue({ repo, author, title, body })
  model.script([...row.plays, { text: row.words ?? 'Add instead of subtracting' }])
  const before = new Set((await ledger.tasks({ limit: 100 })).map(task => task.taskId))
  const comment = await github.comment({ repo, number: issue.number, author: 'mona', body: '/grok fix' })
  await github.deliver({
    event: 'issue_comment',
    payload: github.payload.issueComment('created', { repo, commentId: comment.id }),
    to: serving.url,
  })
  for (const until = Date.now() + endWallMs; Date.now() < until; await sleep(30)) {
    const task = (await ledger.tasks({ limit: 100 })).find(each => !before.has(each.taskId))
    if (task?.state === 'ended') return await readResult(foldTask(await ledger.readEvents(task.taskId)), repo, simulator)
  }
  throw new Error(`${name} did not end`)
}

async function readResult(state: TaskState, repo: string, { github }: Simulator): Promise<Result> {
  const calls = (state.session?.turns ?? []).flatMap(turn => turn.calls)
  const pull = [...(github.state.repositories.get(repo)?.issues.values() ?? [])].find(issue => issue.pull)
  const folder = github.state.repositories.get(repo)?.folder ?? ''
  return {
    state,
    results: calls.map(call => call.settled?.result ?? ''),
    pull: pull?.pull ? { title: pull.title, body: pull.body ?? '', draft: pull.pull.draft } : null,
    pushed: state.commit && pull ? await treeOf(folder, state.commit.sha) : {},
    message: state.commit && pull ? await messageOf(folder, state.commit.sha) : '',
  }
}

/** What was really pushed, read from the bare repository of the fake. */
async function treeOf(folder: string, sha: string): Promise<Record<string, string>> {
  const { stdout } = await execa('git', ['--git-dir', folder, '-c', 'safe.directory=*', 'ls-tree', '-r', '-z', sha])
  return Object.fromEntries(
    stdout
      .split('\0')
      .filter(Boolean)
      .map(line => {
        const [meta = '', file = ''] = line.split('\t')
        const [mode = '', , id = ''] = meta.split(' ')
        return [file, `${mode} ${id}`]
      }),
  )
}

async function messageOf(folder: string, sha: string): Promise<string> {
  const argv = ['--git-dir', folder, '-c', 'safe.directory=*', 'cat-file', 'commit', sha]
  const { stdout } = await execa('git', argv, { stripFinalNewline: false })
  return stdout.slice(stdout.indexOf('\n\n') + 2)
}

function writeFiles(folder: string, files: Files): string {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true })
    if (typeof content === 'string') writeFileSync(path.join(folder, name), content)
    else symlinkSync(content.link, path.join(folder, name))
  }
  return folder
}

/** Every file below a folder with its size, mode and content: to see that nothing changed. */
export function fingerprint(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map(name => {
      const file = path.join(folder, name)
      const { mode } = statSync(file)
      return [name, `${mode} ${statSync(file).isFile() ? readFileSync(file, 'latin1') : ''}`]
    }),
  )
}

/** Where a canary was seen: in requests to GitHub, to the model, or in any file of the data folder; raw, base64, hex or reversed. */
export function findLeaks({ simulator, dataDir, canaries }: AttackStage): string[] {
  const places: [string, string][] = [
    ['GitHub', JSON.stringify(simulator.github.requests().map(request => request.body))],
    ['the model', JSON.stringify(simulator.model.requests.map(request => request.body))],
    ...filesBelow(dataDir).map(file => [file, readFileSync(file, 'latin1')] as [string, string]),
  ]
  return places.flatMap(([place, text]) =>
    Object.entries(canaries).flatMap(([name, canary]) =>
      spellings(canary).some(spelling => text.includes(spelling)) ? [`${name} in ${place}`] : [],
    ),
  )
}

function spellings(canary: string): string[] {
  const bytes = Buffer.from(canary)
  const reversed = [...canary].reverse().join('')
  // Cutting the first characters off is a known way past scanners.
  return [
    canary,
    canary.slice(7),
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -3),
    bytes.subarray(1).toString('base64').slice(0, -3),
    bytes.subarray(2).toString('base64').slice(0, -3),
    reversed,
  ]
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name))
}
