import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileHost, openSandbox, type Sandbox, sandboxLimitDefaults } from '../sandbox/index.ts'

/**
 * What a sandboxed command costs over a plain spawn, in one run: variants take turns, so that load hits all of them alike.
 * Usage: node bench/sandbox-command.ts [rounds, default 40]
 */
const rounds = Number(process.argv[2] ?? 40)
const thinkMs = 200
const asRoot = process.getuid?.() === 0
const user = asRoot ? { uid: 61_001, gid: 61_001 } : { uid: process.getuid?.() as number, gid: process.getgid?.() as number }

const root = mkdtempSync(join(tmpdir(), 'grokbot-bench-'))
chmodSync(root, 0o755)
const workspace = join(root, 'workspace')
for (const name of ['workspace', 'run']) {
  mkdirSync(join(root, name), { mode: 0o700 })
  if (asRoot) chownSync(join(root, name), user.uid, user.gid)
}
const twentyLines = Buffer.from('a line of twenty words or so, which is what a file of code has\n'.repeat(20))
const oneMiB = Buffer.alloc(1024 * 1024, 'x')
for (const [name, content] of [
  ['small', twentyLines],
  ['large', oneMiB],
] as const) {
  writeFileSync(join(workspace, name), content)
  if (asRoot) chownSync(join(workspace, name), user.uid, user.gid)
}

const rows: [string, number[]][] = []

function record(name: string, ms: number): void {
  const row = rows.find(([existing]) => existing === name)
  if (row) row[1].push(ms)
  else rows.push([name, [ms]])
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now()
  await work()
  record(name, performance.now() - startedAt)
}

function plainSpawn(shell: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(shell, ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/', env: {}, ...(asRoot ? user : {}) })
    child.once('error', reject).once('close', () => resolve())
  })
}

async function command(sandbox: Sandbox): Promise<void> {
  const result = await sandbox.run({ argv: ['bash', '-c', 'true'] })
  if (result.kind !== 'ended' || result.exitCode !== 0) throw new Error(JSON.stringify(result))
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

async function open(poolSize: number, files: boolean): Promise<Sandbox> {
  const sandbox = await openSandbox({
    profile: 'workspace',
    policy: 'required',
    workspace: { source: workspace, mode: 'rw' },
    mounts: [],
    runDir: join(root, 'run'),
    user,
    network: { kind: 'none' },
    limits: sandboxLimitDefaults,
    masked: [],
    poolSize,
    files,
  })
  if (sandbox.unavailable) throw new Error(sandbox.unavailable.reason)
  return sandbox
}

async function benchCommands(): Promise<void> {
  const [pooled, cold] = [await open(3, false), await open(0, false)]
  await pause(500)
  for (let round = 0; round < rounds; round += 1) {
    await timed('floor: plain spawn of sh -c true', () => plainSpawn('/bin/sh'))
    await timed('floor: plain spawn of bash -c true', () => plainSpawn('/bin/bash'))
    await timed('command, nothing started ahead', () => command(cold))
    await pause(thinkMs)
    await timed(`command, warm, ${thinkMs} ms after the last`, () => command(pooled))
    await pause(20)
  }
  await pause(500)
  for (let round = 0; round < rounds; round += 1) await timed('command, back to back (pool of 3)', () => command(pooled))
  for (let round = 0; round < rounds; round += 1) await timed('floor: plain bash -c true, back to back', () => plainSpawn('/bin/bash'))
  await timed('close a session', () => pooled.close())
  await cold.close()
}

async function benchFiles(): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    let opened: Sandbox | undefined
    await timed('open a session with its first command parked', async () => {
      opened = await open(0, false)
    })
    await opened?.close()
  }
  const sandbox = await open(0, true)
  const files = sandbox.files as FileHost
  await timed('file host: first call (it starts then)', () => files.list('.', 10))
  for (let round = 0; round < rounds; round += 1) {
    await timed('floor: fs.promises read, 20 lines', () => readFile(join(workspace, 'small')))
    await timed('file host read, 20 lines', () => files.read('small', 1_000_000))
    await timed('floor: fs.promises read, 1 MiB', () => readFile(join(workspace, 'large')))
    await timed('file host read, 1 MiB', () => files.read('large', 2_000_000))
    await timed('floor: fs.promises write + rename, 20 lines', async () => {
      await writeFile(join(workspace, 'temporary'), twentyLines)
      await rename(join(workspace, 'temporary'), join(workspace, 'plain'))
    })
    await timed('file host write, 20 lines', () => files.write('written', twentyLines))
  }
  await sandbox.close()
}

function print(): void {
  const at = (sorted: readonly number[], share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number).toFixed(2).padStart(9)
  console.log(`${'ms'.padEnd(48)} ${['min', 'median', 'p90', 'n'].map(head => head.padStart(9)).join(' ')}`)
  for (const [name, values] of rows) {
    const sorted = [...values].sort((one, other) => one - other)
    console.log(`${name.padEnd(48)} ${at(sorted, 0)} ${at(sorted, 0.5)} ${at(sorted, 0.9)} ${String(sorted.length).padStart(9)}`)
  }
}

try {
  await benchCommands()
  await benchFiles()
  print()
} finally {
  rmSync(root, { recursive: true, force: true })
}
