import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteLedger } from '../../ledger/index.ts'
import { registerSecret } from '../../telemetry/index.ts'
import { renderPullRequest, renderTitle } from '../../worker/render-pull-request.ts'
import { grokbot, openScene } from '../cli/scene.ts'
import { openFixer } from './open-fixer.ts'

const wallMs = 60_000
const token = `ghp_${'Ab1'.repeat(12)}`
const other = `glpat-${'Ab1'.repeat(8)}`

/** Every way a file can change: git describes each in its own words, and the search must not lose count of them. */
const steps = [
  `mkdir -p dir && printf 'a\\0${other}' > dir/data.bin`,
  // Above what is searched.
  `(printf '\\0'; head -c 16777216 /dev/zero) > dir/big.bin`,
  'git mv old.txt new.txt && echo more >> new.txt',
  'chmod +x tool.sh',
  'rm link.txt && ln -s value.txt link.txt',
  'printf "" > empty.txt; rm gone.txt',
  // Moved to another line and no more: it was there before.
  `printf '%s\\n' second 'token = ${token}' first > fixture.txt`,
  'echo fixed > value.txt',
]
const files = {
  'value.txt': 'broken\n',
  'old.txt': 'one\ntwo\nthree\n',
  'tool.sh': '#!/bin/sh\n',
  'link.txt': 'a file that becomes a link\n',
  'gone.txt': 'gone\n',
  'fixture.txt': `token = ${token}\nfirst\nsecond\n`,
  '.github/grok.yml': JSON.stringify({ version: 1, checks: ['grep -q fixed value.txt'], include: ['dir/**', '*.txt'] }),
}

test('a file that would add a credential is left out and named, and everything else is delivered', { timeout: wallMs }, async () => {
  const { fix, close } = await openFixer()
  onTestFinished(close)
  const state = await fix(files, [
    { toolCalls: [{ name: 'run_terminal_command', arguments: { command: steps.join(' && '), description: 'change' } }] },
    { toolCalls: [{ name: 'write', arguments: { file_path: 'config.js', content: `export const token = '${token}'\n` } }] },
    { text: `Use ${token}\n\nThe token ${token} is what it needs.` },
  ])
  expect(state.change?.refused).toEqual([
    { path: 'config.js', reason: 'adds what looks like a GitHub token' },
    { path: 'dir/big.bin', reason: 'not searched for credentials: larger than 16777216 bytes' },
    { path: 'dir/data.bin', reason: 'adds what looks like a GitLab token' },
  ])
  expect(state.change?.files.map(file => [file.status, file.path])).toEqual([
    ['added', 'empty.txt'],
    ['modified', 'fixture.txt'],
    ['deleted', 'gone.txt'],
    ['type-changed', 'link.txt'],
    ['renamed', 'new.txt'],
    ['modified', 'tool.sh'],
    ['modified', 'value.txt'],
  ])
  expect(state.outcome?.outcome).toBe('succeeded')
  const body = renderPullRequest(state, '/grok', 58_000, null)
  expect(body).toContain(
    '**Left out**: `config.js` (adds what looks like a GitHub token), `dir/big.bin` (not searched for credentials: larger than 16777216 bytes), `dir/data.bin` (adds what looks like a GitLab token)\n',
  )
  for (const text of [
    renderTitle(state.session?.ended?.text ?? '', null),
    body,
    state.commit?.message ?? '',
    state.outcome?.summary ?? '',
  ]) {
    expect(text).toContain('redacted')
    expect(text).not.toContain(token)
  }
  // Spread over the names of files, with our words between them.
  const key = 'Q7-key-of-the-operator-XyZ012345678-9876543210'
  const [first] = state.change?.files ?? []
  const spread = (key.match(/.{1,9}/g) ?? []).map(part => ({ ...first, path: part }) as NonNullable<typeof first>)
  const named = () =>
    renderPullRequest({ ...state, change: { ...state.change, files: spread } as typeof state.change }, '/grok', 58_000, null)
  expect(named()).toContain('Q7-key-of')
  registerSecret(key)
  expect(named()).not.toContain('Q7-key-of')
  expect(named()).toContain('Withheld: ')
})

test('an endpoint that repeats the key it was given does not bring it into a record or a text', { timeout: wallMs }, async () => {
  const key = 'K3y-of-the-operator-0123456789-abcdefghijkl'
  const seen: string[] = []
  const endpoint = createServer((request, response) => {
    seen.push(request.headers.authorization ?? '')
    request.resume()
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.`, code: 'invalid_api_key' } }))
  }).listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  onTestFinished(() => void endpoint.close())
  const scene = await openScene()
  onTestFinished(scene.remove)
  const { port } = endpoint.address() as AddressInfo
  const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, LOG_LEVEL: 'info' }
  const argv = ['run', '/grok fix the value', '--repo', scene.repo, '--data', scene.data, '--json']
  const ran = await grokbot(argv, { env })
  // The endpoint did get the key: without the redaction it would be in all of these.
  expect([ran.exitCode, seen]).toEqual([1, [`Bearer ${key}`]])
  const result = JSON.parse(ran.stdout) as { taskId: string; reason: string; bundle: string }
  const failed = await eventOf(scene.data, result.taskId, 'model.failed')
  expect(failed).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('provided: [redacted].') })
  const texts = [ran.stdout, ran.stderr, readFileSync(path.join(scene.data, 'ledger.db'), 'latin1'), readFileSync(result.bundle, 'utf8')]
  expect(texts.filter(text => text.includes(key.slice(4, 20)))).toEqual([])
  expect(result.reason).toContain('[redacted]')
})

async function eventOf(dataDir: string, taskId: string, type: string): Promise<unknown> {
  const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
  try {
    return (await ledger.readEvents(taskId)).find(event => event.type === type)?.payload
  } finally {
    await ledger.close()
  }
}
