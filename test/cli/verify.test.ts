import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exitCodes, UsageError } from '../../cli/exit.ts'
import { receiptsTable } from '../../cli/receipts-table.ts'
import { type VerifyOptions, verifyFile } from '../../cli/verify.ts'
import { type BundleScene, fixedSigner, openBundleScene, parsed, publicKey, taskId } from '../domain/bundle-scene.ts'
import { program as main } from '../program.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-verify-'))
let scene: BundleScene
let bundle: string
let manifest: unknown
const place = (name: string) => path.join(folder, name)
const write = (name: string, content: string | Uint8Array) => {
  writeFileSync(place(name), content)
  return place(name)
}

beforeAll(async () => {
  const git = (...argv: string[]) =>
    execa('git', ['-c', 'user.name=m', '-c', 'user.email=m@example.com', ...argv], { cwd: place('repository') })
  await execa('git', ['init', '-q', place('repository')])
  await execa('git', ['init', '-q', place('other')])
  for (const subject of ['one', 'two']) await git('commit', '-q', '--allow-empty', '-m', subject)
  const [sha = '', tree = '', parent = ''] = (await git('log', '-1', '--format=%H %T %P')).stdout.split(' ')
  scene = await openBundleScene('private', { sha, tree, parent })
  bundle = write('bundle.json', await scene.write())
  manifest = parsed(await scene.write()).manifest
  for (const key of [1, 2]) write(`key-${key}.pem`, fixedSigner(key).publicKeyPem)
  write('keys.pem', `# ours, oldest first\n${fixedSigner(2).publicKeyPem}\n${fixedSigner(1).publicKeyPem}`)
})
afterAll(async () => {
  await scene.close()
  rmSync(folder, { recursive: true })
})

/** As a person runs it. */
async function run(...argv: string[]) {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [main, 'verify', ...argv], { reject: false })
  return { exitCode, stdout, stderr }
}
/** The same without a process. */
async function verify(file: string, options: VerifyOptions = {}) {
  try {
    const { exitCode, text } = await verifyFile(file, options)
    return { exitCode, stdout: text, stderr: '' }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { exitCode: exitCodes.usage, stdout: '', stderr: error.message }
  }
}
const firstLine = ({ stdout }: { stdout: string }) => stdout.split('\n')[0]

describe('an untouched bundle', () => {
  it('is ok with the key that signed it', async () => {
    const { exitCode, stdout, stderr } = await run(bundle, '--key', place('key-1.pem'), '--receipts')
    const { commit } = (manifest as { facts: { commit: { sha: string; tree: string; parent: string } } }).facts
    expect({ exitCode, stderr, lines: stdout.split('\n') }).toEqual({
      exitCode: 0,
      stderr: '',
      lines: [
        `ok: ${taskId}, 15 events, 8 receipts`,
        'repository  octo/pager',
        'outcome     succeeded, pushed',
        `commit      ${commit.sha}`,
        `tree        ${commit.tree}`,
        `parent      ${commit.parent}`,
        `signed by   ${publicKey(1).keyId}`,
        '',
        'seq  kind    what                           decision       sandbox   result                  time   bytes  hosts',
        '4    model   turn 1                                                  1200 + 90 tokens        1.9 s',
        '5    tool    read_file                      allow grant              ok                      0.0 s  31',
        '6    tool    run_terminal_command npm test  allow grant    enforced  exit 1                  0.0 s  31     registry.example:443',
        '7    model   turn 2                                                  1200 + 90 tokens        1.9 s',
        '8    tool    fetch                          deny net-none            denied                  0.0 s  31',
        '9    check   test baseCodeBaseTests                        enforced  exit 1, 3 pass, 1 fail  0.3 s  4',
        '10   check   test newCodeNewTests                          enforced  exit 0, 4 pass, 0 fail  0.3 s  4',
        '14   effect  push 1                                                  confirmed',
      ],
    })
  })
  it('says "integrity only" when nobody is trusted', async () => {
    const result = await verify(bundle)
    expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('does not say whose') })
    expect(firstLine(result)).toBe(`integrity only: ${taskId}, 15 events, 8 receipts`)
  })
  it('gives a script one object', async () => {
    const { exitCode, stdout } = await run(bundle, '--keys', place('keys.pem'), '--repo', place('repository'), '--json')
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, { result: 'ok', fault: null, manifest, receipts: 8, repository: 'matches' }])
  })
  it('is ok after a rotation, with a folder of keys', async () => {
    mkdirSync(place('public'))
    for (const key of [1, 2, 3]) write(`public/${publicKey(key).keyId}.pem`, fixedSigner(key).publicKeyPem)
    expect(await verify(bundle, { keys: place('public') })).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^ok: /) })
  })
  it('is ok with keys from a URL, and a URL that gives none is the caller’s mistake', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/keys.pem') response.end(fixedSigner(1).publicKeyPem)
      else if (request.url === '/moved') response.writeHead(302, { location: '/keys.pem' }).end()
      else if (request.url === '/endless') for (let part = 0; part < 40; part += 1) response.write('x'.repeat(65_536))
      else response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      expect(firstLine(await verify(bundle, { keys: `${url}/keys.pem` }))).toMatch(/^ok: /)
      for (const where of ['/none', '/moved', '/endless'])
        expect(await verify(bundle, { keys: url + where })).toMatchObject({ exitCode: 2, stdout: '' })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
  it('is compared with a repository', async () => {
    const same = await verify(bundle, { key: place('key-1.pem'), repo: place('repository') })
    expect(same).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('the repository has this commit with this tree and parent') })
    const other = await verify(bundle, { key: place('key-1.pem'), repo: place('other') })
    expect(other).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^fault: repository \(no-commit\): the repository does not have the commit [0-9a-f]{40}$/),
    })
  })
})

describe('a bundle that says another tree or parent than its commit has', () => {
  it.each(['tree', 'parent'] as const)('%s: is a fault against the repository, though its signature is good', async field => {
    const { commit } = (manifest as { facts: { commit: { sha: string; tree: string; parent: string } } }).facts
    const lying = await openBundleScene('private', { ...commit, [field]: 'e'.repeat(40) })
    try {
      const file = write(`lying-${field}.json`, await lying.write())
      expect(await verify(file, { key: place('key-1.pem') })).toMatchObject({ exitCode: 0 })
      expect(await verify(file, { key: place('key-1.pem'), repo: place('repository') })).toMatchObject({
        exitCode: 1,
        stdout: expect.stringMatching(/^fault: repository \(other-commit\)/),
      })
    } finally {
      await lying.close()
    }
  })
})

describe('a bundle with a fault', () => {
  it.each<[string, (bytes: Buffer) => string | Uint8Array, string]>([
    [
      'a changed byte',
      bytes => bytes.toString().replace('the output', 'thf output'),
      'fault: event 6 (payload-hash): event 6: its payload or its salt was changed',
    ],
    ['a cut tail', bytes => bytes.subarray(0, 6_000), 'fault: event 8 (truncated): the file ends within event 8'],
    ['no bytes', () => '', 'fault: manifest (layout): the first line is not that of a bundle in a format this version reads'],
    [
      'random bytes',
      () => Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919) % 256)),
      'fault: file (encoding): the file is not UTF-8',
    ],
    [
      'orders to a terminal',
      bytes => bytes.toString().replace('"attempt":1', '"\\u001b[2J\\u202e":0,"attempt":1'),
      'fault: event 2 (shape): event 2: header: Unrecognized key: "\\u{1b}[2J\\u{202e}"',
    ],
  ])('%s: ends with 1 and names it', async (name, tamper, said) => {
    const file = write(`fault-${name}.json`, tamper(await scene.write()))
    expect(await verify(file)).toEqual({ exitCode: 1, stdout: said, stderr: '' })
  })
  it('tells a script where it is', async () => {
    const file = write('fault.json', (await scene.write()).toString().replace('the output', 'thf output'))
    const { exitCode, stdout } = await run(file, '--key', place('key-1.pem'), '--json')
    const fault = { where: 'entry', seq: 6, reason: 'payload-hash', message: 'event 6: its payload or its salt was changed' }
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      1,
      { result: 'fault', fault, manifest: null, receipts: null, repository: 'not-compared' },
    ])
  })
  it('is one for whoever expects another key', async () => {
    expect(await verify(bundle, { key: place('key-2.pem') })).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^fault: key \(wrong-key\)/),
    })
  })
})

describe('a bundle nobody signed', () => {
  it('ends with 5, with or without a key', async () => {
    const file = write('unsigned.json', await scene.write({ signer: null }))
    expect(await verify(file)).toMatchObject({ exitCode: 5, stdout: expect.stringMatching(/^unsigned: [\s\S]*signed by {3}nobody$/) })
    expect(await verify(file, { key: place('key-1.pem') })).toMatchObject({ exitCode: 5 })
  })
})

describe('usage', () => {
  it.each<[string, () => [string, VerifyOptions], RegExp]>([
    ['a file that is not there', () => [place('nowhere.json'), {}], /there is no file .*nowhere\.json/],
    ['a folder', () => [folder, {}], /is no file/],
    ['a device', () => ['/dev/zero', {}], /is no file/],
    ['two ways to name keys', () => [bundle, { key: 'a', keys: 'b' }], /can not be given together/],
    ['a key that is not there', () => [bundle, { key: place('nowhere.pem') }], /there is no file .*nowhere\.pem/],
    ['a key that is none', () => [bundle, { key: bundle }], /holds no Ed25519 public key/],
    ['keys over plain http', () => [bundle, { keys: 'http://keys.example/keys.pem' }], /https only/],
    ['a folder that is no repository', () => [bundle, { repo: tmpdir() }], /no git repository/],
  ])('%s ends with 2 and says why', async (_, argv, said) => {
    expect(await verify(...argv())).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(said) })
  })
  it.each<[string, string[], RegExp]>([
    ['no file', [], /missing required argument/],
    ['an unknown option', ['a', '--strict'], /unknown option/],
    ['a file that is not there', ['/nowhere.json'], /there is no file \/nowhere\.json \[file-missing\]/],
  ])('%s, to the process too', async (_, argv, said) => {
    expect(await run(...argv)).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(said) })
  })
})

it('an erased bundle says so', async () => {
  const mine = await openBundleScene()
  try {
    await mine.write()
    const { exitCode, stdout } = await verify(write('erased.json', await mine.erase()), { key: place('key-1.pem') })
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('erased      2027-01-15T08:01:00.000Z: only the headers are left')])
  } finally {
    await mine.close()
  }
})

it('a bundle of a public repository says what is left out', async () => {
  const open = await openBundleScene('public')
  try {
    const { exitCode, stdout } = await verify(write('public.json', await open.write()), { key: place('key-1.pem') })
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('left out    outputs (the repository is public)')])
  } finally {
    await open.close()
  }
})

it('the table shows no order to a terminal', () => {
  const head = { seq: 1, attempt: 1, at: 0, hash: '' }
  const table = receiptsTable([
    { ...head, kind: 'effect', effectId: 't:\u001b[2Jx\u202e\n', state: 'confirmed', remote: {}, reason: '', foundByReadBack: false },
  ])
  expect(table.split('\n')[1]).toBe('1    effect  \\u{1b}[2Jx\\u{202e}                     confirmed')
})
