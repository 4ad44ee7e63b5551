import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { git, mint, octokit, type Ran, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
let clone: string
let token: string
let base: string
let count = 0

/** One clone for the file; each test starts at the same commit with one of its own on top. */
beforeAll(async () => {
  clone = join(fixture.scratch, 'clone')
  await ok(git(fixture.scratch, ['clone', '-q', fixture.github.gitUrl('octo', 'hello'), clone]))
  base = await ok(git(clone, ['rev-parse', 'HEAD']))
})

beforeEach(async () => {
  token = await mint(fixture.github, 'octo', { permissions: { contents: 'write' }, repositoryNames: ['hello'] })
  await ok(git(clone, ['reset', '-q', '--hard', base]))
  await commit('new.txt', `${++count}\n`)
})

async function ok(work: Promise<Ran>): Promise<string> {
  const ran = await work
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 })
  return ran.stdout.trim()
}

async function commit(path: string, content: string | Buffer): Promise<string> {
  await mkdir(join(clone, path, '..'), { recursive: true })
  await writeFile(join(clone, path), content)
  await ok(git(clone, ['add', '-A']))
  await ok(git(clone, ['commit', '-qm', `change ${path}`]))
  return ok(git(clone, ['rev-parse', 'HEAD']))
}

function push(ref: string, options: { token?: string; force?: boolean } = {}): Promise<Ran> {
  return git(
    clone,
    ['push', '--porcelain', ...(options.force ? ['--force'] : []), 'origin', `HEAD:refs/heads/${ref}`],
    options.token ?? token,
  )
}

/** The status line of `push --porcelain`: flag, refs, text. */
function statusLine(ran: Ran): string | undefined {
  return ran.stdout.split('\n').find(line => /^[ +\-*=!]\t/.test(line))
}

describe('fetching', () => {
  test('anybody reads a public repository, nobody a private one', async () => {
    const { github, scratch } = fixture
    await github.addRepository({ owner: 'octo', name: 'secret', private: true })
    await ok(git(scratch, ['ls-remote', github.gitUrl('octo', 'hello')]))
    const anonymous = await git(scratch, ['ls-remote', github.gitUrl('octo', 'secret')])
    expect(anonymous.stderr).toContain('could not read Username')
    const narrow = await git(scratch, ['ls-remote', github.gitUrl('octo', 'secret')], token)
    expect(narrow.stderr).toContain('Repository not found.')
    const wide = await mint(github, 'octo')
    expect(await ok(git(scratch, ['ls-remote', github.gitUrl('octo', 'secret')], wide))).toContain('refs/heads/main')
  })

  test('the token works as bearer too, and a bad one is refused', async () => {
    const { github, scratch } = fixture
    const bearer = (value: string) =>
      git(scratch, ['-c', `http.extraHeader=Authorization: bearer ${value}`, 'ls-remote', github.gitUrl('octo', 'hello')])
    await ok(bearer(token))
    expect((await bearer('ghs_wrong')).exitCode).toBe(128)
  })

  test('pull refs and single objects can be fetched, also with filters', async () => {
    const { github, scratch } = fixture
    const sha = await ok(git(clone, ['rev-parse', 'HEAD']))
    await ok(push('fetch-me'))
    const { number } = await github.openPull({ repo: 'octo/hello', author: 'maria', title: 'T', head: 'fetch-me' })
    const bare = join(scratch, 'bare.git')
    await ok(git(scratch, ['init', '-q', '--bare', bare]))
    await ok(git(bare, ['fetch', '-q', '--filter=blob:none', github.gitUrl('octo', 'hello'), `refs/pull/${number}/head:refs/grok/pull`]))
    expect(await ok(git(bare, ['rev-parse', 'refs/grok/pull']))).toBe(sha)
    await ok(git(bare, ['fetch', '-q', github.gitUrl('octo', 'hello'), sha]))
  })

  test('a renamed repository is still found', async () => {
    const { github, scratch } = fixture
    await github.addRepository({ owner: 'octo', name: 'was' })
    github.renameRepository('octo/was', 'is')
    expect(await ok(git(scratch, ['ls-remote', github.gitUrl('octo', 'was')]))).toContain('refs/heads/main')
  })
})

describe('pushing', () => {
  test('a new branch is pushed, the objects are there, and a pull request follows its head', async () => {
    const { github } = fixture
    expect(statusLine(await push('grok/fix-1'))).toBe('*\tHEAD:refs/heads/grok/fix-1\t[new branch]')
    const { number } = await github.openPull({ repo: 'octo/hello', author: 'maria', title: 'T', head: 'grok/fix-1' })
    const sha = await commit('more.txt', 'more\n')
    await ok(push('grok/fix-1'))
    expect(await github.refs('octo/hello')).toMatchObject({ 'refs/heads/grok/fix-1': sha, [`refs/pull/${number}/head`]: sha })
    const octo = octokit(github, await mint(github, 'octo'))
    expect((await octo.rest.pulls.get({ ...hello, pull_number: number })).data).toMatchObject({ commits: 2, head: { sha } })
    await ok(git(clone, ['push', '-q', 'origin', ':refs/heads/grok/fix-1'], token))
    expect((await octo.rest.pulls.get({ ...hello, pull_number: number })).data.state).toBe('closed')
  })

  test('a large push comes chunked, a long fetch request gzipped, and both work', async () => {
    const { github, scratch } = fixture
    await commit('big.bin', randomBytes(3 * 1024 * 1024))
    const trace = { GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1' }
    const big = await git(clone, ['push', '--porcelain', 'origin', 'HEAD:refs/heads/big'], token, trace)
    expect(big.stderr).toContain('Send header: Transfer-Encoding: chunked')
    const sources = Array.from(
      { length: 60 },
      (_, at) => `commit refs/heads/many-${at}\ncommitter m <m@example.org> ${at} +0000\ndata 1\n${at % 10}\n`,
    )
    await ok(git(clone, ['fast-import', '--quiet'], undefined, {}, sources.join('\n')))
    await ok(git(clone, ['push', '-q', 'origin', 'refs/heads/many-*:refs/heads/many-*'], token))
    const cloned = await git(scratch, ['clone', '-q', '--mirror', github.gitUrl('octo', 'hello'), 'mirror.git'], undefined, trace)
    expect(cloned.stderr).toContain('Send header: Content-Encoding: gzip')
    const mirrored = await ok(git(join(scratch, 'mirror.git'), ['for-each-ref', 'refs/heads/many-*']))
    expect(mirrored.split('\n')).toHaveLength(60)
  })

  test('who may not write is refused before anything is sent', async () => {
    const { github } = fixture
    const reader = await mint(github, 'octo', { permissions: { contents: 'read' } })
    const denied = await push('denied', { token: reader })
    expect(denied.stderr).toContain('remote: Permission to octo/hello.git denied to grokbot[bot].')
    expect(denied.stderr).toContain('The requested URL returned error: 403')
    const anonymous = await git(clone, ['push', 'origin', 'HEAD:refs/heads/denied'])
    expect(anonymous.stderr).toContain('could not read Username')
    github.addUser({ login: 'stranger' })
    expect((await push('denied', { token: github.userToken('stranger') })).exitCode).toBe(128)
    expect((await push('by-maria', { token: github.userToken('maria') })).exitCode).toBe(0)
    expect(await github.refs('octo/hello')).not.toHaveProperty('refs/heads/denied')
  })

  test('a branch that moved meanwhile is rejected by git itself', async () => {
    await ok(push('moving'))
    await fixture.github.commit({ repo: 'octo/hello', branch: 'moving', files: { 'theirs.txt': 'x\n' } })
    await commit('ours.txt', 'y\n')
    expect(statusLine(await push('moving'))).toBe('!\tHEAD:refs/heads/moving\t[rejected] (fetch first)')
    expect((await push('moving', { force: true })).exitCode).toBe(0)
  })

  test('pull refs belong to GitHub', async () => {
    const ran = await git(clone, ['push', '--porcelain', 'origin', 'HEAD:refs/pull/77/head'], token)
    expect(statusLine(ran)).toBe('!\tHEAD:refs/pull/77/head\t[remote rejected] (deny updating a hidden ref)')
  })
})

describe('what the server declines', () => {
  test('a protected branch: no direct push, no deletion, no force', async () => {
    const { github } = fixture
    github.protectBranch('octo/hello', 'trunk')
    const direct = await push('trunk')
    expect(statusLine(direct)).toBe('!\tHEAD:refs/heads/trunk\t[remote rejected] (protected branch hook declined)')
    expect(direct.stderr).toContain('remote: error: GH006: Protected branch update failed for refs/heads/trunk.')
    github.protectBranch('octo/hello', 'trunk', { requirePullRequest: false })
    await ok(push('trunk'))
    await ok(git(clone, ['commit', '-q', '--amend', '-m', 'other']))
    expect((await push('trunk', { force: true })).stderr).toContain('Cannot force-push to this branch')
    const deleted = await git(clone, ['push', '--porcelain', 'origin', ':refs/heads/trunk'], token)
    expect(statusLine(deleted)).toContain('[remote rejected] (protected branch hook declined)')
    github.state.repositories.get('octo/hello')?.protections.clear()
    const unprotected = await git(clone, ['push', '--porcelain', 'origin', ':refs/heads/trunk'], token)
    expect(statusLine(unprotected)).toContain('[remote rejected] (refusing to delete the current branch: refs/heads/trunk)')
  })

  test('workflow files, unless the token has that permission or the commit is there already', async () => {
    const { github } = fixture
    await commit('.github/workflows/ci.yml', 'on: push\n')
    const line =
      '!\tHEAD:refs/heads/flow\t[remote rejected] (refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission)'
    expect(statusLine(await push('flow'))).toBe(line)
    await ok(push('flow', { token: github.userToken('maria') }))
    await commit('after.txt', 'built on it\n')
    await ok(push('flow-2'))
    github.setInstallation('octo', { permissions: { ...github.installation('octo').permissions, workflows: 'write' } })
    await commit('.github/workflows/ci.yml', 'on: [push]\n')
    const allowed = await mint(github, 'octo', { permissions: { contents: 'write', workflows: 'write' } })
    await ok(push('flow-3', { token: allowed }))
  })

  test('one declined ref of two does not hold the other back', async () => {
    fixture.github.protectBranch('octo/hello', 'guarded')
    const ran = await git(clone, ['push', '--porcelain', 'origin', 'HEAD:refs/heads/guarded', 'HEAD:refs/heads/free'], token)
    expect(ran.stdout).toContain('!\tHEAD:refs/heads/guarded\t[remote rejected] (protected branch hook declined)')
    expect(ran.stdout).toContain('*\tHEAD:refs/heads/free\t[new branch]')
  })

  test.each([
    ['protected', '(protected branch hook declined)', 'GH006: Protected branch update failed'],
    [
      'workflows',
      '(refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission)',
      '',
    ],
    ['rules', '(push declined due to repository rule violations)', 'GH013: Repository rule violations found'],
    ['secret', '(push declined due to repository rule violations)', 'Push cannot contain secrets'],
    ['large-file', '(pre-receive hook declined)', 'GH001: Large files detected'],
    ['other', '(pre-receive hook declined)', ''],
  ] as const)('the fault "%s" is said in the words of GitHub', async (reason, status, text) => {
    const handle = fixture.github.fail({ route: 'git push', fault: { kind: 'decline', reason } })
    const ran = await push(`declined-${reason}`)
    expect(statusLine(ran)).toBe(`!\tHEAD:refs/heads/declined-${reason}\t[remote rejected] ${status}`)
    expect(ran.stderr).toContain(text)
    expect(handle.hits()).toBe(1)
  })
})

describe('a push over a broken line', () => {
  test.each([
    ['cut before', { kind: 'cut', when: 'before' }, false],
    ['cut after the server did it', { kind: 'cut', when: 'after' }, true],
    ['half an answer', { kind: 'half-answer' }, true],
    ['a gateway page after it was done', { kind: 'html', status: 504, done: true }, true],
    ['a gateway page before', { kind: 'html' }, false],
    ['401 in the middle', { kind: 'status', status: 401 }, false],
  ] as const)('%s: git fails, and the branch is there or not', async (title, fault, there) => {
    const ref = `line-${title.replaceAll(' ', '-')}`
    // Git's own HTTP client sends a request again when a kept connection breaks before any answer: two cuts then.
    const handle = fixture.github.fail({ route: 'git push', fault, times: fault.kind === 'cut' ? 2 : 1 })
    expect((await push(ref)).exitCode).not.toBe(0)
    handle.clear()
    const refs = await fixture.github.refs('octo/hello')
    expect(refs[`refs/heads/${ref}`] !== undefined).toBe(there)
  })

  test('a client that is killed in the middle leaves no process behind', async () => {
    const { github } = fixture
    const controller = new AbortController()
    const sent = fetch(`${github.webUrl}/octo/hello.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-git-receive-pack-request' },
      body: new ReadableStream({ start: stream => stream.enqueue(Buffer.from('0094')) }),
      duplex: 'half',
      signal: controller.signal,
    } as RequestInit)
    await expect.poll(() => github.requests('git push').length).toBeGreaterThan(0)
    controller.abort()
    await expect(sent).rejects.toThrow()
    await expect.poll(() => github.requests('git push').at(-1)?.durationMs).not.toBeNull()
    await ok(push('after-abort'))
  })
})
