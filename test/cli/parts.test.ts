import { createHmac, generateKeyPairSync } from 'node:crypto'
import { chmodSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { UsageError } from '../../cli/exit.ts'
import { nodeRoots } from '../../cli/node-roots.ts'
import { define } from '../../cli/serve.ts'
import { subCommands } from '../../cli/sub-commands.ts'
import { readEnvironment } from '../../config-schema/index.ts'
import { grokbot, lastObject, openScene, type Scene, start } from './scene.ts'

const wallMs = 120_000
let opened: Scene
beforeAll(async () => {
  opened = await openScene()
})
afterAll(() => opened.remove())

describe('config', () => {
  it('begins, checks and shows a file, each value with who said it', { timeout: wallMs }, async () => {
    const scene = await openScene({ 'package.json': '{"scripts":{"test":"node --test"}}', '.github/grok.yml': '' })
    onTestFinished(scene.remove)
    const file = path.join(scene.repo, '.github/grok.yml')
    const there = await grokbot(['config', 'init', '--repo', scene.repo])
    expect([there.exitCode, there.stderr]).toEqual([2, expect.stringContaining('is there already')])
    await scene.git('rm', '-q', '.github/grok.yml')
    const init = await grokbot(['config', 'init', '--repo', scene.repo])
    expect(init.stdout).toBe(`wrote ${file}\n`)
    expect(readFileSync(file, 'utf8')).toContain('checks:\n  - "npm test"\n')
    const check = await grokbot(['config', 'check', '--repo', scene.repo, '--json'])
    expect([check.exitCode, JSON.parse(check.stdout)]).toEqual([0, [{ file, kind: 'repository', state: 'ok', problems: [], notes: [] }]])
    scene.write('repo/.github/grok.yml', 'version: 1\nlimits:\n  turnsMax: 900\n  tokensMax: 5\n')
    scene.write('data/operator.yml', 'version: 1\nlimits:\n  turnsMax: 30\n')
    await scene.git('add', '-A')
    await scene.git('commit', '-q', '-m', 'config')
    const argv = ['config', 'show', '--repo', scene.repo, '--data', scene.data]
    const shown = JSON.parse((await grokbot([...argv, '--json', '--effective'])).stdout)
    expect(shown.settings).toMatchObject({
      'limits.turnsMax': { value: 30, source: 'operator', notTaken: { value: 900 } },
      'limits.tokensMax': { value: 5, source: 'repository', notTaken: null },
      'limits.leaseMs': { value: 15_000, source: 'default' },
      checks: { value: null, source: 'default' },
    })
    expect((await grokbot([...argv, '--why'])).stdout).toBe(
      'limits.turnsMax   30  operator, not 900: a repository can only lower a limit\nlimits.tokensMax  5   repository\n',
    )
  })
  it('says line and column of a broken file, and ends with 2', { timeout: wallMs }, async () => {
    const file = opened.write('broken.yml', 'version: 1\nlimits:\n  turnMax: 900\n')
    const check = await grokbot(['config', 'check', file])
    expect([check.exitCode, check.stdout]).toEqual([
      2,
      `${file}:3:3: limits.turnMax is not a setting\n  as long as it is broken, nothing is set up, checked or proven\n`,
    ])
    const data = path.dirname(opened.write('broken-data/operator.yml', 'version: 1\nlimits: [\n'))
    const run = await grokbot(['run', '/grok fix it', '--repo', opened.repo, '--data', data])
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringMatching(/operator\.yml:\d+:\d+: /)])
  })
})

describe('sandbox', () => {
  it('exec gives the command its profile, and us its output and exit code', { timeout: wallMs }, async () => {
    const ran = await grokbot(['sandbox', 'exec', '--profile', 'strict', '--', 'sh', '-c', 'pwd; id -u; echo no > /usr/x; exit 7'])
    expect([ran.exitCode, ran.stdout.split('\n').slice(0, 2)]).toEqual([7, ['/workspace', '1000']])
    expect(ran.stderr).toBe('sandbox enforced, profile strict, no network\n')
  })
  it('exec and show say of the profile off what it leaves open', { timeout: wallMs }, async () => {
    const [ran, shown] = await Promise.all([
      grokbot(['sandbox', 'exec', '--profile', 'off', '--', 'readlink', '/proc/self/ns/net']),
      grokbot(['sandbox', 'show', 'off', '--json']),
    ])
    expect([ran.stdout, ran.stderr]).toEqual([`${readlinkSync('/proc/self/ns/net')}\n`, "sandbox none, profile off, the host's network\n"])
    expect(lastObject(shown.stdout)).toMatchObject({
      defaultRead: 'all the user may read; nothing is masked',
      denies: [],
      childNetwork: ["the host's"],
    })
  })
  it('exec works on a copy of a repository, never on it', { timeout: wallMs }, async () => {
    const argv = [
      'sandbox',
      'exec',
      '--profile',
      'workspace',
      '--repo',
      opened.repo,
      '--json',
      '--',
      'sh',
      '-c',
      'cat value.txt; rm value.txt; git status --short',
    ]
    const ran = await grokbot(argv)
    expect(lastObject(ran.stdout)).toMatchObject({
      exitCode: 0,
      killedBy: null,
      output: 'broken\n D value.txt\n',
      sandbox: { state: 'enforced' },
    })
    expect(readFileSync(path.join(opened.repo, 'value.txt'), 'utf8')).toBe('broken\n')
  })
  it("exec finds the programs of the operator's roots before the system's", { timeout: wallMs }, async () => {
    const root = path.join(opened.folder, 'root')
    chmodSync(opened.write('root/bin/node', '#!/bin/sh\necho ours\n'), 0o755)
    for (const folder of [root, path.join(root, 'bin')]) chmodSync(folder, 0o755)
    const data = path.dirname(opened.write('rooted/operator.yml', `version: 1\nsandbox:\n  roots: [${root}]\n`))
    const ran = await grokbot(['sandbox', 'exec', '--profile', 'strict', '--data', data, '--', 'node', '--version'])
    expect([ran.exitCode, ran.stdout]).toEqual([0, 'ours\n'])
  })
  it('a Node that commands could not see gives its programs and packages, and never the folder around them', () => {
    const home = path.join(opened.folder, 'home')
    opened.write('home/.local/bin/node', '')
    opened.write('home/.local/lib/node_modules/npm/package.json', '{}')
    opened.write('home/.local/share/keyrings/secret', '')
    const bin = path.join(home, '.local/bin')
    expect(nodeRoots(path.join(bin, 'node'), [])).toEqual([bin, path.join(home, '.local/lib/node_modules')])
    expect(nodeRoots(path.join(bin, 'node'), [path.join(home, 'absent')])).toHaveLength(2)
    expect(nodeRoots(path.join(bin, 'node'), ['/usr/bin/env'])).toEqual([])
  })
  it('exec says what killed a command and ends with 4', { timeout: wallMs }, async () => {
    const ran = await grokbot(['sandbox', 'exec', '--profile', 'strict', '--wall', '0.5', '--', 'sleep', '60'])
    expect([ran.exitCode, ran.stderr]).toEqual([4, expect.stringContaining('killed: wall\n')])
  })
  it('show prints the six checks of a profile, the last one measured', { timeout: wallMs }, async () => {
    const ran = await grokbot(['sandbox', 'show', 'review', '--json'])
    const checks = lastObject(ran.stdout)
    expect(Object.keys(checks)).toEqual([
      'profile',
      'summary',
      'defaultRead',
      'writablePaths',
      'denies',
      'childNetwork',
      'platformSupport',
      'appliedState',
    ])
    expect(checks).toMatchObject({
      writablePaths: ['/home/agent', '/tmp'],
      denies: expect.arrayContaining(['/workspace/.env']),
      platformSupport: { state: 'supported' },
      appliedState: { state: 'enforced' },
    })
  })
  it('names the profiles there are when it is given another', { timeout: wallMs }, async () => {
    const ran = await grokbot(['sandbox', 'show', 'nope'])
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('there are workspace, devbox, read-only, strict, review, off')])
  })
})

describe('doctor', () => {
  it('tries each part and names what mends it', { timeout: wallMs }, async () => {
    const ran = await grokbot(['doctor', '--json', '--data', opened.data])
    const { state, findings } = lastObject(ran.stdout) as {
      state: string
      findings: { part: string; state: string; mend: string | null }[]
    }
    expect([ran.exitCode, state], ran.stdout).toEqual([0, 'degraded'])
    const parts = Object.fromEntries(findings.map(finding => [finding.part, finding.state]))
    expect(parts).toMatchObject({
      node: 'ok',
      git: 'ok',
      'data folder': 'ok',
      'uid mode': 'ok',
      'sandbox workspace': 'ok',
      'sandbox strict': 'ok',
      toolchains: 'ok',
      model: 'degraded',
      'github app': 'degraded',
    })
    for (const finding of findings) expect(finding.mend === null).toBe(finding.state === 'ok')
  })
  it('finds what is broken, goes on to the end, and ends with 1', { timeout: wallMs }, async () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', APP_ID: '1', WEBHOOK_SECRET: 's', PRIVATE_KEY: 'no key' }
    const data = path.dirname(opened.write('ill/operator.yml', 'version: 2\n'))
    const ran = await grokbot(['doctor', '--json', '--data', data], { env })
    const { findings } = lastObject(ran.stdout) as { findings: { part: string; state: string }[] }
    expect(ran.exitCode).toBe(1)
    const broken = findings.filter(({ state }) => state === 'broken').map(({ part }) => part)
    expect(broken).toEqual(['operator settings', 'model', 'github app'])
  })
})

describe('serve', () => {
  const key = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }).privateKey
  const env = {
    APP_ID: '1',
    WEBHOOK_SECRET: 'secret',
    PRIVATE_KEY: key,
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    GHE_API_URL: 'http://127.0.0.1:9',
  }

  it('listens where it is told, keeps a signed delivery, drains on SIGTERM and ends with 0', { timeout: wallMs }, async () => {
    const running = start(['serve', '--port', '0', '--host', '127.0.0.1', '--data', path.join(opened.folder, 'serve')], { env })
    onTestFinished(() => void running.kill('SIGKILL'))
    let logged = ''
    const url = await new Promise<string>((resolve, reject) => {
      running.stderr.on('data', (chunk: Buffer) => {
        logged += chunk
        const line = String(chunk)
          .split('\n')
          .find(text => text.includes('listening'))
        if (line) resolve(JSON.parse(line).url)
      })
      running.stderr.on('end', () => reject(new Error('serve ended')))
    })
    const body = '{"action":"created"}'
    const signature = `sha256=${createHmac('sha256', 'secret').update(body).digest('hex')}`
    const headers = { 'x-github-event': 'issue_comment', 'x-github-delivery': 'd-1', 'x-hub-signature-256': signature }
    const [kept, unsigned] = await Promise.all([
      fetch(url, { method: 'POST', body, headers }),
      fetch(url, { method: 'POST', body, headers: { ...headers, 'x-hub-signature-256': 'sha256=0' } }),
    ])
    expect([kept.status, await kept.text(), unsigned.status]).toEqual([202, 'recorded\n', 401])
    // It fits no event, and nothing else would ever tell whoever sent it.
    await expect.poll(() => logged, { timeout: 10_000 }).toMatch(/"delivery":"d-1","reason":"payload: .*"a delivery was ignored"/)
    const taken = await grokbot(
      ['serve', '--port', new URL(url).port, '--host', '127.0.0.1', '--data', path.join(opened.folder, 'other')],
      { env },
    )
    expect([taken.exitCode, taken.stderr]).toEqual([
      2,
      expect.stringMatching(
        /port \d+ is in use \[port-in-use\]\n {2}name another one: --port N\n {2}another process may share this data folder, on a port of its own/,
      ),
    ])
    running.kill('SIGTERM')
    expect((await running).exitCode).toBe(0)
  })

  const missing: [name: string, env: Record<string, string>, argv: string[], says: string][] = [
    ['without an App', {}, [], 'the GitHub App is not configured\nset APP_ID\nset WEBHOOK_SECRET\nset PRIVATE_KEY or PRIVATE_KEY_PATH'],
    [
      'with a key file that is not there',
      { ...env, PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/nowhere.pem' },
      [],
      'PRIVATE_KEY_PATH: there is no file /nowhere.pem',
    ],
    ['with an id that is none', { ...env, APP_ID: 'abc' }, [], 'APP_ID is no id of a GitHub App: abc\nit is a number, or a client id'],
    ['with a key that is none', { ...env, PRIVATE_KEY: key.slice(0, 300) }, [], 'PRIVATE_KEY is no RSA private key'],
    ['in production without owners', { ...env, NODE_ENV: 'production' }, [], 'ALLOWED_OWNERS is not set'],
    ['on a port that is none', env, ['--port', '99999'], '--port is a number from 0 to 65535, not 99999'],
  ]
  it.each(missing)('%s it says what is missing', async (_, given, argv, says) => {
    const environment = readEnvironment(given)
    if (environment.kind === 'invalid') throw new Error(environment.problems.join())
    const command = new Command('serve')
    define(command, environment.values)
    const error: unknown = await command
      .parseAsync(['--data', path.join(opened.folder, 'never'), ...argv], { from: 'user' })
      .catch(thrown => thrown)
    expect(error).toBeInstanceOf(UsageError)
    expect([(error as UsageError).message, ...(error as UsageError).hints].join('\n')).toContain(says)
  })
  it('with an environment that is not usable it says which variable and ends with 2', { timeout: wallMs }, async () => {
    const ran = await grokbot(['serve'], { env: { ...env, PORT: 'many' } })
    expect([ran.exitCode, ran.stderr]).toEqual([
      2,
      expect.stringMatching(/^grokbot: the environment is not usable \[environment-invalid\]\n {2}PORT: /),
    ])
  })
})

describe('help', () => {
  it('lists every sub-command, and each has its own', { timeout: wallMs }, async () => {
    const all = await grokbot(['--help'])
    expect(all.exitCode).toBe(0)
    for (const { name } of subCommands) expect(all.stdout).toMatch(new RegExp(`\\n {2}${name} `))
    const one = await grokbot(['run', '--help'])
    expect([one.exitCode, one.stdout]).toEqual([
      0,
      expect.stringMatching(/^Usage: grokbot run [\s\S]*--apply[\s\S]*Exit: 0 done and proven/),
    ])
    for (const { name, load } of subCommands) {
      const command = new Command(name)
      ;(await load()).define(command, {})
      const options = [command, ...command.commands].flatMap(each => each.options.map(option => option.description))
      expect(options.length, name).toBeGreaterThan(0)
      expect(
        options.every(text => text !== ''),
        name,
      ).toBe(true)
    }
  })
  it('says what there is when there is no such command', { timeout: wallMs }, async () => {
    const ran = await grokbot(['nope'])
    expect([ran.exitCode, ran.stderr]).toEqual([2, "grokbot: unknown command 'nope' [command-line]\n  see what there is: grokbot --help\n"])
  })
})
