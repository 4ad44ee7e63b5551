import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { entryPlaces } from '../entries.ts'
import { buildFolder } from '../tools/build/build-folder.ts'
import { type WatchedModel, watchModel } from './model-watch.ts'
import { type Memory, readTreeMemory } from './process-tree.ts'

export type Kind = 'file' | 'command'
export type Who = 'floor' | 'program' | 'thread'
export type Ask = { who: Who; kind: Kind; turns: number; latencyMs?: number; memory?: boolean }

/** What one process did, from its start to its end. Every time is seen from outside. */
export type Seen = {
  wallMs: number
  /** To the arrival of the first request. */
  startMs: number
  gaps: number[]
  peak: Memory
  connections: number
  firstBody: { bytes: number; system: number; tools: number }
}

export type Stage = {
  watched: WatchedModel
  dataDir: string
  run(ask: Ask): Promise<Seen>
  spawnProgram(argv: readonly string[]): ChildProcess
  script(kind: Kind, turns: number): void
  close(): Promise<void>
}

const memoryGapMs = 40
const files = 200
const root = path.resolve(import.meta.dirname, '..')

/** The built program, the floor, a repository with some files, a data folder that has its mirror, and a model in this process. */
export async function openStage(): Promise<Stage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-bench-'))
  chmodSync(folder, 0o711)
  const [dist, floor, repository, dataDir] = ['dist', 'floor.cjs', 'repository', 'data'].map(name => path.join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  await buildFolder(root, dist)
  await build({ entryPoints: [path.join(root, 'bench/floor.ts')], bundle: true, platform: 'node', format: 'cjs', outfile: floor })
  makeRepository(repository)
  mkdirSync(dataDir, { mode: 0o711 })
  writeFileSync(path.join(dataDir, 'operator.yml'), 'version: 1\nlimits:\n  turnsMax: 500\n  tokensMax: 1000000000\n')
  const watched = await watchModel()
  const env = { PATH: process.env.PATH ?? '', HOME: folder, OPENAI_BASE_URL: watched.model.url, OPENAI_API_KEY: 'bench' }
  const node = (argv: readonly string[]) => spawn(process.execPath, argv, { cwd: repository, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const spawnProgram = (argv: readonly string[]) =>
    node([path.join(dist, entryPlaces().main.built), 'run', '--repo', repository, '--data', dataDir, '--json', ...argv])
  const script = (kind: Kind, turns: number) =>
    watched.model.script((_, step) => (step < turns ? { toolCalls: [toolCall(kind, step)] } : { text: 'There is nothing to change.' }))

  async function run({ who, kind, turns, latencyMs = 0, memory = false }: Ask): Promise<Seen> {
    watched.clear()
    watched.model.set({ latencyMs })
    script(kind, turns)
    const startedAt = performance.now()
    const child =
      who === 'floor'
        ? node([floor, watched.model.url, kind, repository])
        : spawnProgram([...(who === 'thread' ? ['--thread'] : []), '/grok fix what the task says'])
    const stderr = readText(child)
    const peak = memory ? watchMemory(child) : async () => ({ pssMb: 0, rssMb: 0, processes: 0 })
    await once(child, 'exit')
    const wallMs = performance.now() - startedAt
    const requests = watched.arrivals()
    // A run that stopped early would look quick.
    if (requests.length !== turns + 1) throw new Error(`${who}: ${requests.length} requests in place of ${turns + 1}\n${stderr()}`)
    watched.model.assertNoRefusedRequests()
    return {
      wallMs,
      startMs: (requests[0] as number) - startedAt,
      gaps: watched.gaps(),
      peak: await peak(),
      connections: watched.model.connections(),
      firstBody: sizesOf(watched),
    }
  }

  // The first run makes the mirror and the compiled code; nothing of it is counted.
  await run({ who: 'program', kind: 'file', turns: 1 })
  return {
    watched,
    dataDir,
    run,
    spawnProgram,
    script,
    async close() {
      await watched.model.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function toolCall(kind: Kind, step: number) {
  return kind === 'file'
    ? { name: 'read_file', arguments: { target_file: 'src/file-0.txt', offset: step + 1, limit: 20 } }
    : { name: 'run_terminal_command', arguments: { command: `echo ${step}`, description: 'a step' } }
}

function makeRepository(folder: string): void {
  mkdirSync(path.join(folder, 'src'), { recursive: true })
  for (let file = 0; file < files; file += 1)
    writeFileSync(path.join(folder, 'src', `file-${file}.txt`), 'a line of some words, as they are in files\n'.repeat(300))
  const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org']
  for (const argv of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    [...who, 'commit', '-q', '-m', 'first'],
  ])
    execFileSync('git', argv, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

export function readText(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.on('data', chunk => {
    text += chunk
  })
  return () => text
}

/** Looks at the whole tree again and again: slow, so never in a run whose times count. */
function watchMemory(child: ChildProcess): () => Promise<Memory> {
  let peak: Memory = { pssMb: 0, rssMb: 0, processes: 0 }
  const looking = (async () => {
    while (child.exitCode === null && child.signalCode === null) {
      const now = readTreeMemory(child.pid as number)
      if (now.pssMb > peak.pssMb) peak = now
      await sleep(memoryGapMs)
    }
  })()
  return async () => {
    await looking
    return peak
  }
}

function sizesOf({ model }: WatchedModel) {
  const request = model.requests[0]
  if (request === undefined) throw new Error('there was no request')
  const { messages, tools } = request.body as { messages: { role: string; content: unknown }[]; tools: unknown }
  return {
    bytes: request.bytes,
    system: Buffer.byteLength(JSON.stringify(messages.filter(({ role }) => role === 'system'))),
    tools: Buffer.byteLength(JSON.stringify(tools)),
  }
}
