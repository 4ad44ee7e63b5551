import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { fetchMirror, type Mirror, openMirror, readRemoteRef } from '../../git/index.ts'
import { redact } from '../../git/redact.ts'
import { startHttpRemote } from './http-remote.ts'
import { makeFolder, makeRepository, personEnv, plainGit } from './scene.ts'

const token = 'ghs_Zk3vP9xQ2mN7rT5wY8bL1cD4fG6hJ0aSeU'

async function open(): Promise<{ folder: string; mirror: Mirror; project: string; url: (origin: string) => string }> {
  const folder = makeFolder()
  const project = makeRepository(folder)
  plainGit(folder, 'clone', '-q', '--bare', project, join(folder, 'served.git'))
  const mirror = await openMirror({ dataDir: join(folder, 'data'), tenant: 'octo', repositoryId: 1, wallMs: 20_000 })
  return { folder, mirror, project, url: origin => `${origin}/served.git` }
}

/** Every byte of every file below a folder. */
function readAll(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

test('Q49: a private repository is fetched with a token that is in no argument, file or message', async () => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({ root: folder, token })
  let asked = 0
  const credential = async () => {
    asked++
    return token
  }
  expect(await fetchMirror(mirror, { url: url(remote.origin), credential })).toEqual({ kind: 'fetched' })
  expect(asked).toBe(1)
  expect(remote.requests.some(request => request.authorization !== null)).toBe(true)
  // The observer does see command lines: those of the fetch are among them.
  expect(remote.seen.commandLines).toContain(url(remote.origin))
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  for (const form of [token, basic]) {
    expect(remote.seen.commandLines).not.toContain(form)
    expect(readAll(join(folder, 'data'))).not.toContain(form)
  }
})

test('Q50: the token is asked for anew each time, and a dead one is an answer', async () => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({ root: folder, token })
  const tokens = ['ghs_expired', token]
  const credential = async () => tokens.shift() ?? token
  const first = await fetchMirror(mirror, { url: url(remote.origin), credential: async () => 'ghs_expired' })
  expect(first).toMatchObject({ kind: 'failed', reason: 'denied' })
  expect(JSON.stringify(first)).not.toContain('ghs_expired')
  expect(tokens).toHaveLength(2)
  tokens.shift()
  expect(await fetchMirror(mirror, { url: url(remote.origin), credential })).toEqual({ kind: 'fetched' })
})

test('without a token a private repository is refused at once: nobody is asked for a password', async () => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({ root: folder, token })
  const started = Date.now()
  expect(await fetchMirror(mirror, { url: url(remote.origin) })).toMatchObject({ kind: 'failed', reason: 'denied' })
  expect(Date.now() - started).toBeLessThan(10_000)
})

test('a redirect to another host is followed without the token', async () => {
  const { folder, mirror, url } = await open()
  const other = await startHttpRemote({ root: folder, token })
  const remote = await startHttpRemote({
    root: folder,
    instead: (request, response) => {
      response.writeHead(302, { location: `${other.origin}${request.url}` }).end()
      return true
    },
  })
  const result = await fetchMirror(mirror, { url: url(remote.origin), credential: async () => token })
  expect(result.kind).toBe('failed')
  expect(other.requests.length).toBeGreaterThan(0)
  expect(other.requests.filter(request => request.authorization !== null)).toEqual([])
  // A helper that answers whoever asks gives the token away: git itself asks it for the new host.
  const naive = '!f() { echo username=x-access-token; echo password=$GROKBOT_GIT_TOKEN; }; f'
  const env = { ...personEnv, GROKBOT_GIT_TOKEN: token }
  await promisify(execFile)('git', ['-c', `credential.helper=${naive}`, 'ls-remote', url(remote.origin)], { env })
  expect(other.requests.filter(request => request.authorization !== null)).not.toEqual([])
})

test('a renamed repository on the same host is followed, token and all', async () => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({
    root: folder,
    token,
    instead: (request, response) => {
      if (!request.url?.startsWith('/served.git/')) return false
      response.writeHead(301, { location: request.url.replace('/served.git/', '/renamed.git/') }).end()
      return true
    },
  })
  plainGit(folder, 'clone', '-q', '--bare', 'served.git', 'renamed.git')
  expect(await fetchMirror(mirror, { url: url(remote.origin), credential: async () => token })).toEqual({ kind: 'fetched' })
})

test.each([
  [401, 'denied'],
  [403, 'denied'],
  [404, 'not-found'],
  [410, 'not-found'],
  [500, 'unreachable'],
  [502, 'unreachable'],
] as const)('an answer of %i is %s, told by its status and not by words', async (status, reason) => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({
    root: folder,
    instead: (_, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Everything is fine, fetched!</html>')
      return true
    },
  })
  const given = { url: url(remote.origin), credential: async () => token }
  const fetched = await fetchMirror(mirror, given)
  expect(fetched).toMatchObject({ kind: 'failed', reason })
  expect(JSON.stringify(fetched)).not.toContain(token)
  expect(await readRemoteRef({ ...given, ref: 'refs/heads/main' })).toMatchObject({ kind: 'failed', reason })
})

test('a server that echoes the token in its error text does not get it into a message', async () => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({
    root: folder,
    instead: (request, response) => {
      if (!request.headers.authorization) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      else response.writeHead(403, { 'content-type': 'text/plain' }).end(`no: ${request.headers.authorization} ${token}`)
      return true
    },
  })
  const fetched = await fetchMirror(mirror, { url: url(remote.origin), credential: async () => token })
  expect(fetched).toMatchObject({ kind: 'failed', reason: 'denied' })
  const text = JSON.stringify(fetched)
  for (const form of [token, Buffer.from(`x-access-token:${token}`).toString('base64')]) expect(text).not.toContain(form)
})

test('a host that is not there is unreachable', async () => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({ root: folder })
  await remote.close()
  expect(await fetchMirror(mirror, { url: url(remote.origin) })).toMatchObject({ kind: 'failed', reason: 'unreachable' })
})

test('the operator’s proxy is used and nothing else of the environment', async () => {
  const { folder, mirror } = await open()
  const proxied: string[] = []
  const proxy = await startHttpRemote({
    root: folder,
    instead: (request, response) => {
      proxied.push(request.url ?? '')
      request.url = new URL(request.url ?? '', 'http://x').pathname + new URL(request.url ?? '', 'http://x').search
      void response
      return false
    },
  })
  const environment = { http_proxy: proxy.origin, GIT_DIR: '/nonexistent', GIT_TRACE: '/dev/stderr', LD_PRELOAD: '/nonexistent.so' }
  expect(await fetchMirror(mirror, { url: 'http://git.invalid/served.git', environment })).toEqual({ kind: 'fetched' })
  expect(proxied[0]).toMatch(/^http:\/\/git\.invalid\/served\.git\/info\/refs/)
})

test.each(['', 'two\nlines', 'nul\0'])('a token of %j is never given to git', async bad => {
  const { folder, mirror, url } = await open()
  const remote = await startHttpRemote({ root: folder, token })
  await expect(fetchMirror(mirror, { url: url(remote.origin), credential: async () => bad })).rejects.toThrow('one line')
})

test('credentials of any spelling are removed from a text', () => {
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  const text = [
    `fatal: https://x-access-token:${token}@github.example/a/b`,
    `AUTHORIZATION: basic ${basic}`,
    `\u001b[31m${token}\u001b[0m`,
    `{"t":"${token}"}`,
    `a${encodeURIComponent('to/k en')}b`,
    'https://someone:else@host.example/x',
    'ssh://git@host.example/x',
    'mail me@host.example, see https://host.example/@user',
  ].join('\n')
  const clean = redact(text, [token, 'to/k en', ''])
  expect(clean).toBe(
    [
      'fatal: https://[redacted]@github.example/a/b',
      'AUTHORIZATION: basic [redacted]',
      '\u001b[31m[redacted]\u001b[0m',
      '{"t":"[redacted]"}',
      'a[redacted]b',
      'https://[redacted]@host.example/x',
      'ssh://[redacted]@host.example/x',
      'mail me@host.example, see https://host.example/@user',
    ].join('\n'),
  )
})
