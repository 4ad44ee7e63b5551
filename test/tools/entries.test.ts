import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EntryForm, type EntryName, entryPath, entryPlaces, sqliteAddonPath, sqliteAddonPlace } from '../../entries.ts'
import { openPrompts } from '../../prompts/index.ts'
import { createFrameReader, encodeFrame, type Frame } from '../../sandbox/file-host/frame.ts'
import { buildFolder } from '../../tools/build/build-folder.ts'

const root = path.resolve(import.meta.dirname, '../..')
const stage = mkdtempSync(path.join(tmpdir(), 'entries-'))
const dist = path.join(stage, 'dist')
const places = entryPlaces()
const names = Object.keys(places) as EntryName[]

beforeAll(async () => {
  // The sandbox's user passes through it to the file host.
  await chmod(stage, 0o711)
  await buildFolder(root, dist)
}, 60_000)
afterAll(() => rmSync(stage, { recursive: true, force: true }))

/** What each entry does when it is started, or read, as its users do. A new entry does not compile without a row. */
const checks: Record<EntryName, (file: string) => Promise<void>> = {
  async main(file) {
    const { stdout } = await execa(process.execPath, [file, '--version'])
    expect(stdout).toBe('0.1.0')
  },
  async sessionThread(file) {
    // A data folder that can not be made: the thread is there, takes its order, and says what broke.
    const thread = new Worker(file)
    const order = { dataDir: '/dev/null/data', endpoint: { apiKey: 'a-key-of-the-test' } }
    thread.postMessage({ kind: 'order', order, secrets: [] })
    const [message] = (await once(thread, 'message')) as [{ kind: string; message: string }]
    expect(message).toMatchObject({ kind: 'failed', message: expect.stringContaining('ENOTDIR') })
    await once(thread, 'exit')
  },
  async fileHost(file) {
    const child = spawn(process.execPath, ['--no-addons', file, ''], { stdio: ['pipe', 'pipe', 'inherit'], env: {} })
    const frames: Frame[] = []
    const read = createFrameReader(frame => frames.push(frame), 1_000, 1_000)
    child.stdout.on('data', read)
    const asked = path.join(stage, 'asked.txt')
    writeFileSync(asked, 'its bytes')
    child.stdin.write(encodeFrame({ id: 1, call: 'read', path: asked, maxBytes: 100 }))
    while (frames.length < 2) await once(child.stdout, 'data')
    child.stdin.end()
    await once(child, 'close')
    expect(frames.map(({ header }) => header.kind)).toEqual(['ready', 'read'])
    expect(frames[1]?.body.toString()).toBe('its bytes')
  },
  relay: relayCarries,
  async credentialHelper(file) {
    const env = { GROKBOT_GIT_ORIGIN: 'https://github.test', GROKBOT_GIT_TOKEN: 'a-token' }
    const ask = (host: string) => execa('sh', [file, 'get'], { env, input: `protocol=https\nhost=${host}\n\n` })
    expect((await ask('github.test')).stdout).toBe('username=x-access-token\npassword=a-token')
    expect((await ask('other.test')).stdout).toBe('')
  },
  async hostGitConfig(file) {
    const { stdout } = await execa('git', ['config', '--file', file, '--list'])
    expect(stdout).toContain('core.hookspath=/dev/null')
  },
  // Both run in a sandbox with mounts of their own (test/git); without a work tree there they say so.
  async makeTree(file) {
    expect((await execa('bash', ['-p', file, 'all', 'tree', 'id', ''], { reject: false })).exitCode).toBe(2)
  },
  async restoreTree(file) {
    expect((await execa('bash', ['-p', file, 'tree'], { reject: false })).exitCode).toBe(2)
  },
  async prompts(folder) {
    const prompts = openPrompts(folder)
    expect(prompts.placeholders('system')).toEqual(openPrompts().placeholders('system'))
    const markdown = (of: string) => (readdirSync(of, { recursive: true }) as string[]).filter(name => name.endsWith('.md')).sort()
    expect(markdown(folder)).toEqual(markdown(path.join(root, 'prompts')))
  },
  async package(file) {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ name: 'grokbot', version: '0.1.0' })
  },
}

async function relayCarries(file: string): Promise<void> {
  const folder = mkdtempSync(path.join(stage, 'relay-'))
  const socket = path.join(folder, 'proxy.sock')
  const proxy = createServer(client => client.pipe(client)).listen(socket)
  const port = await freePort()
  const child = spawn(process.execPath, ['--no-addons', file, String(port), socket], { stdio: ['ignore', 'pipe', 'inherit'], env: {} })
  try {
    await once(child.stdout, 'data')
    const client = connect({ host: '127.0.0.1', port })
    client.write('there and back')
    const [bytes] = (await once(client, 'data')) as [Buffer]
    expect(bytes.toString()).toBe('there and back')
    client.destroy()
  } finally {
    child.kill('SIGKILL')
    proxy.close()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const forms: readonly [EntryForm, () => string][] = [
  ['source', () => root],
  ['built', () => dist],
]

describe.each(forms)('in %s form', (form, folder) => {
  test.each(names)('%s starts or can be read', name => checks[name](path.join(folder(), places[name][form])))
})

test('this source tree answers with its own files', () => {
  expect(names.map(name => entryPath(name))).toEqual(names.map(name => path.join(root, places[name].source)))
  expect(sqliteAddonPath()).toBeUndefined()
})

test('the addon of the built folder opens a database', () => {
  const database = new Database(':memory:', { nativeBinding: path.join(dist, sqliteAddonPlace(process.arch)) })
  expect(database.prepare('select 1 + 1 as two').get()).toEqual({ two: 2 })
  database.close()
})

test('the folders that sandboxes are shown hold one file each, and nothing of the built folder names a place of the build', () => {
  expect(readdirSync(path.join(dist, 'inside')).sort()).toEqual(['file-host', 'relay'])
  expect(readdirSync(path.dirname(path.join(dist, places.fileHost.built)))).toEqual(['main.cjs'])
  expect(readdirSync(path.dirname(path.join(dist, places.relay.built)))).toEqual(['relay.cjs'])
  const texts = readdirSync(dist)
    .filter(name => name.endsWith('.mjs'))
    .map(name => readFileSync(path.join(dist, name), 'utf8'))
  expect(texts.filter(text => text.includes(root))).toEqual([])
})

test('every package inside is named with its licence', () => {
  const notices = readFileSync(path.join(dist, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
  for (const name of ['better-sqlite3', 'openai', 'zod', '@octokit/core', 'kysely'])
    expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'))
})

test('a folder with anything else in it is not built into', async () => {
  const mine = path.join(stage, 'mine')
  mkdirSync(mine)
  writeFileSync(path.join(mine, 'thesis.txt'), 'mine')
  await expect(buildFolder(root, mine)).rejects.toThrow('it holds thesis.txt')
  expect(existsSync(path.join(mine, 'thesis.txt'))).toBe(true)
})

test('the built program plays the whole demo from an empty folder, without any package beside it', { timeout: 120_000 }, async () => {
  const empty = mkdtempSync(path.join(stage, 'caller-'))
  const env = { PATH: process.env.PATH ?? '', HOME: empty }
  const run = await execa(process.execPath, [path.join(dist, places.main.built), 'demo', '--json'], {
    cwd: empty,
    env,
    extendEnv: false,
    reject: false,
  })
  expect(run.exitCode, run.stderr).toBe(0)
  expect(JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    outcome: 'succeeded',
    sandbox: { state: 'enforced' },
    verify: 'ok',
    turns: 5,
  })
})
