import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/rest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/index.ts'

const run = promisify(execFile)
let simulator: Simulator
let scratch: string

beforeAll(async () => {
  simulator = await startSimulator()
  scratch = await mkdtemp(join(tmpdir(), 'simulator-test-'))
  await simulator.github.addRepository({ owner: 'octo', name: 'hello', defaultBranch: 'trunk' })
})

afterAll(async () => {
  await simulator.close()
  await rm(scratch, { recursive: true, force: true })
})

test('an App mints a narrowed token with the real auth package and comments with it', async () => {
  const { github } = simulator
  github.addUser({ login: 'maria' })
  const issue = github.openIssue({ repo: 'octo/hello', author: 'maria', title: 'It is broken' })
  const installationId = github.installation('octo').id
  const auth = createAppAuth({ appId: github.appId, privateKey: github.appPrivateKey, request: new Octokit({ baseUrl: github.url }).request })
  const { token } = await auth({ type: 'installation', installationId, repositoryNames: ['hello'], permissions: { issues: 'write' } })
  const octokit = new Octokit({ baseUrl: github.url, auth: token })
  const comment = await octokit.rest.issues.createComment({ owner: 'octo', repo: 'hello', issue_number: issue.number, body: 'Hello.' })
  expect(comment.data.user?.login).toBe('grokbot[bot]')
  const dir = join(scratch, 'clone')
  await run('git', ['clone', '-q', github.gitUrl('octo', 'hello'), dir])
  await writeFile(join(dir, 'new.txt'), 'new\n')
  const { token: pushToken } = await auth({ type: 'installation', installationId, permissions: { contents: 'write', pull_requests: 'write' } })
  const header = `Authorization: basic ${Buffer.from(`x-access-token:${pushToken}`).toString('base64')}`
  await run('git', ['-C', dir, 'add', '-A'])
  await run('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'new'])
  const pushed = await run('git', ['-C', dir, '-c', `http.extraHeader=${header}`, 'push', '--porcelain', 'origin', 'HEAD:refs/heads/grok/fix-1'])
  console.log(pushed.stdout, pushed.stderr)
  const pulls = new Octokit({ baseUrl: github.url, auth: pushToken })
  const pull = await pulls.rest.pulls.create({ owner: 'octo', repo: 'hello', head: 'grok/fix-1', base: 'trunk', title: 'Fix', body: 'Closes #1' })
  expect(pull.data).toMatchObject({ number: 2, commits: 1, changed_files: 1, additions: 1 })
  github.assertNoUnknownRequests()
})
