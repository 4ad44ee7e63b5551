import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { renderPullRequest } from '../../worker/render-pull-request.ts'
import { type Files, openFixer } from './open-fixer.ts'
import { type Registry, startRegistry } from './start-registry.ts'

/** Setup of a whole task, from a registry on 127.0.0.1 that only the operator's file opens. */
let registry: Registry
beforeAll(async () => {
  registry = await startRegistry()
})
afterAll(() => registry.close())

/** The repository's own files name the registry, as those of a company with its own would. */
function npmFiles(): Files {
  const dependencies = { left: '1.0.0' }
  const left = { version: '1.0.0', resolved: `${registry.url}/left-1.0.0.tgz`, integrity: registry.integrity }
  return {
    '.npmrc': `registry=${registry.url}/\nfund=false\naudit=false\n`,
    '.gitignore': 'node_modules\n',
    'package.json': JSON.stringify({ name: 'sum', version: '1.0.0', scripts: { test: 'node test.js' }, dependencies }),
    'package-lock.json': JSON.stringify({
      name: 'sum',
      version: '1.0.0',
      lockfileVersion: 3,
      packages: { '': { name: 'sum', version: '1.0.0', dependencies }, 'node_modules/left': left },
    }),
    'sum.js': "module.exports = require('left') - 1\n",
    'test.js': "require('node:assert').strictEqual(require('./sum.js'), 43)\n",
  }
}

function pythonFiles(): Files {
  return {
    'requirements.txt': `--index-url ${registry.url}/simple/\n--trusted-host 127.0.0.1\nright==1.0.0\n`,
    'sum.py': 'import right\n\ntotal = right.answer - 1\n',
    'test_sum.py': 'from sum import total\n\n\ndef test_total():\n    assert total == 43\n',
  }
}

const script = (file: string, content: string) => [
  { toolCalls: [{ name: 'write', arguments: { file_path: file, content } }] },
  { text: 'Add instead of subtracting' },
]

async function fixer(egress: object) {
  const opened = await openFixer({ egress })
  onTestFinished(opened.close)
  return opened
}

test('npm ci and pip install take their packages through the proxy, and the log says so', { timeout: 120_000 }, async () => {
  const place = [`127.0.0.1:${registry.port}`]
  const { fix } = await fixer({ allow: place, allowPrivate: place })
  const npm = await fix(npmFiles(), script('sum.js', "module.exports = require('left') + 1\n"))
  const python = await fix(pythonFiles(), script('sum.py', 'import right\n\ntotal = right.answer + 1\n'))
  const setup = { source: 'detected', exitCode: 0, hosts: [`allowed ${place[0]}`] }
  expect(
    [npm, python].map(state => ({
      outcome: state.outcome?.outcome,
      setup: { source: state.setup?.source, exitCode: state.setup?.exitCode, hosts: state.setup?.hosts },
      checks: [state.checks.baseCodeBaseTests, state.checks.newCodeNewTests].map(([check]) => check?.exitCode),
    })),
    [npm, python].map(state => `${state.outcome?.reason}\n${state.setup?.output}`).join('\n'),
  ).toEqual(Array(2).fill({ outcome: 'succeeded', setup, checks: [1, 0] }))
  expect(registry.urls()).toContain('/left-1.0.0.tgz')
  expect(registry.urls()).toContain('/right-1.0.0-py3-none-any.whl')
})

test.each([
  { name: 'lists nothing', host: 'registry.example', reason: 'not on the allow-list', listed: [] },
  { name: 'lists it, but not as private', host: '127.0.0.1', reason: 'the name resolves to a private address', listed: ['127.0.0.1'] },
])('when the operator $name, the registry is refused, and the pull request says so', { timeout: 120_000 }, async row => {
  const before = registry.urls().length
  const { fix } = await fixer({ allow: row.listed.map(host => `${host}:${registry.port}`) })
  const state = await fix(
    {
      '.github/grok.yml': `version: 1\nsetup: [curl -sSf -m 10 http://${row.host}:${registry.port}/left-1.0.0.tgz]\n`,
      Makefile: 'test:\n\ttest "$$(cat value)" = 2\n',
      value: '1\n',
    },
    script('value', '2\n'),
  )
  const refusal = `refused ${row.host}:${registry.port} (${row.reason})`
  expect({ outcome: state.outcome?.outcome, hosts: state.setup?.hosts, verdict: state.verdict }, state.outcome?.reason).toEqual({
    outcome: 'failed',
    hosts: [refusal],
    verdict: {
      verdict: 'unproven',
      reasons: ['setup failed, so the checks ran without it', '`make test` ran on new code whose setup failed'],
    },
  })
  expect(renderPullRequest(state, '/grok', 58_000, null)).toContain(`exit 22; network: \`${refusal}\`.`)
  expect(registry.urls()).toHaveLength(before)
})

test('setup has the profile of its task, with the proxy, and its evidence says which', { timeout: 120_000 }, async () => {
  const opened = await openFixer({ sandbox: { profile: 'strict', readHost: true } })
  onTestFinished(opened.close)
  const setup = [
    // A file of the host that the profile `workspace` shows with `readHost`, and `strict` never.
    'test -e /var/lib/dpkg/status && echo sees the host || echo sees no host',
    'curl -sS --max-time 5 https://registry.example/ || true',
  ]
  const files = { 'grok.txt': '1\n', '.github/grok.yml': JSON.stringify({ version: 1, setup, checks: ['true'] }) }
  const state = await opened.fix(files, script('grok.txt', '2\n'))
  const strict = { engine: 'bwrap', state: 'enforced', profile: 'strict', missing: expect.any(Array) }
  const refused = ['refused registry.example:443 (not on the allow-list)']
  expect(state.setup?.output).toContain('\nsees no host\n')
  expect([state.setup?.sandbox, state.setup?.hosts]).toEqual([strict, refused])
  expect(state.checks.newCodeNewTests.map(check => check.setup)).toEqual([
    { exitCode: 0, hosts: refused, durationMs: expect.any(Number), sandbox: strict },
  ])
  expect(renderPullRequest(state, '/grok', 58_000, null)).toContain('profile strict, exit 0; network: `refused registry.example:443')
})
