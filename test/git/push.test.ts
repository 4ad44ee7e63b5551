import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commitTree, pushCommit, readRemoteRef } from '../../git/index.ts'
import { startHttpRemote } from './http-remote.ts'
import { openSharedScene, plainGit, type Scene, sh } from './scene.ts'

let scene: Scene
let end: () => void
/** base ← ours ← newer, and `theirs` beside ours. */
let ours: string
let newer: string
let theirs: string
let remotes = 0
const ref = 'refs/heads/grok/fix-1'
const author = { name: 'bot', email: 'bot@example.org' }
const token = 'ghs_Zk3vP9xQ2mN7rT5wY8bL1cD4fG6hJ0aSeU'

beforeAll(async () => {
  const opened = await openSharedScene()
  scene = opened.scene
  end = opened.end
  const { store, baseTree, base } = scene
  const commit = (message: string, parent: string) =>
    commitTree({ store, tree: baseTree, parents: [parent], message, author, at: 1_700_000_000_000 })
  ours = await commit('ours', base)
  newer = await commit('newer', ours)
  theirs = await commit('theirs', base)
})
afterAll(() => end())

/** A bare repository with `main` at the base, and `ref` where it is said to be. */
function makeRemote(at: string | null): string {
  const path = join(scene.folder, `remote-${remotes++}.git`)
  plainGit(scene.folder, 'clone', '-q', '--bare', scene.project, path)
  if (at !== null) sh(scene.store.path, `git --git-dir=. push -q ${path} ${at}:${ref}`)
  return path
}

function shaAt(remote: string, name = ref): string {
  return plainGit(remote, 'for-each-ref', '--format=%(objectname)', name)
}

const push = (url: string, sha: string, expect: string | null, more: { rewrite?: boolean; ref?: string } = {}) =>
  pushCommit({ store: scene.store, url, sha, ref, expect, ...more })

test('a new branch is made when nothing is there, and doing it again changes nothing', async () => {
  const remote = makeRemote(null)
  expect(await push(remote, ours, null)).toEqual({ kind: 'pushed', remoteSha: ours })
  expect(await push(remote, ours, null)).toEqual({ kind: 'pushed', remoteSha: ours })
  expect(plainGit(remote, 'for-each-ref', '--format=%(refname)')).toBe(`${ref}\nrefs/heads/main`)
})

test('a branch fast-forwards from where it was expected', async () => {
  const remote = makeRemote(ours)
  expect(await push(remote, newer, ours)).toEqual({ kind: 'pushed', remoteSha: newer })
})

test('Q42: a branch that somebody pushed to meanwhile is left alone and said to have moved', async () => {
  const remote = makeRemote(theirs)
  expect(await push(remote, newer, ours)).toMatchObject({ kind: 'rejected', reason: 'moved', remoteSha: theirs })
  expect(await push(remote, newer, ours, { rewrite: true })).toMatchObject({ kind: 'rejected', reason: 'moved', remoteSha: theirs })
  expect(await push(remote, ours, null)).toMatchObject({ kind: 'rejected', reason: 'moved', remoteSha: theirs })
  expect(shaAt(remote)).toBe(theirs)
  const gone = makeRemote(null)
  expect(await push(gone, newer, ours)).toMatchObject({ kind: 'rejected', reason: 'moved', remoteSha: null })
})

test('a commit that does not continue the branch is pushed over it only where the branch is our own', async () => {
  const remote = makeRemote(theirs)
  expect(await push(remote, ours, theirs)).toMatchObject({ kind: 'rejected', reason: 'moved', remoteSha: theirs })
  expect(shaAt(remote)).toBe(theirs)
  expect(await push(remote, ours, theirs, { rewrite: true })).toEqual({ kind: 'pushed', remoteSha: ours })
})

test('a branch that moves while the push is under way wins', async () => {
  const remote = makeRemote(ours)
  sh(scene.store.path, `git --git-dir=. push -q ${remote} ${theirs}:refs/heads/elsewhere`)
  hook(remote, 'pre-receive', `git update-ref ${ref} ${theirs}`)
  const { result } = await pushTo(remote, () => false, ours)
  expect(result).toMatchObject({ kind: 'rejected', reason: 'moved', remoteSha: theirs })
})

test('Q38: a branch that stands where the folder of ours would be is an answer', async () => {
  const remote = makeRemote(null)
  plainGit(remote, 'update-ref', 'refs/heads/grok', 'refs/heads/main')
  expect(await push(remote, ours, null)).toMatchObject({ kind: 'rejected', remoteSha: null })
  expect(await push(remote, ours, null, { ref: 'refs/heads/grok-fix-1' })).toEqual({ kind: 'pushed', remoteSha: ours })
})

test('a hook that says it is fine while it declines is not believed', async () => {
  const remote = makeRemote(null)
  hook(remote, 'pre-receive', `echo "To $PWD"; echo " * [new branch] pushed"; echo "ok ${ref}"; exit 1`)
  const { result } = await pushTo(remote, () => false)
  expect(result).toMatchObject({ kind: 'rejected', reason: 'other', remoteSha: null })
})

test('no hook of a local folder runs on the host when it is pushed to', async () => {
  const remote = makeRemote(null)
  hook(remote, 'pre-receive', `touch ${scene.folder}/hook-ran; exit 1`)
  expect(await push(remote, ours, null)).toEqual({ kind: 'pushed', remoteSha: ours })
  expect(existsSync(join(scene.folder, 'hook-ran'))).toBe(false)
})

function hook(remote: string, name: string, script: string): void {
  mkdirSync(join(remote, 'hooks'), { recursive: true })
  writeFileSync(join(remote, 'hooks', name), `#!/bin/sh\nunset GIT_QUARANTINE_PATH\n${script}\n`, { mode: 0o755 })
}

test.each(['main', 'refs/heads/x y', 'refs/heads/../x', '--mirror', 'refs/heads/x:refs/heads/main', '+refs/heads/x'])(
  'a ref called %j is never handed to git',
  async bad => {
    await expect(push(makeRemote(null), ours, null, { ref: bad })).rejects.toThrow('not a full ref name')
  },
)

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean

/** Lets refs be read as they are, and answers a push as GitHub does: one protocol line for the ref, prose beside it. */
const refuse =
  (reason: string, prose = ''): Answer =>
  (request, response) => {
    if (!request.url?.endsWith('/git-receive-pack') || request.method !== 'POST') return false
    request.resume()
    request.on('end', () => {
      const packet = (bytes: Buffer) => Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
      const report = Buffer.concat([packet(Buffer.from('unpack ok\n')), packet(Buffer.from(`ng ${ref} ${reason}\n`)), Buffer.from('0000')])
      const bands = [Buffer.concat([Buffer.of(2), Buffer.from(`${prose}\n`)]), Buffer.concat([Buffer.of(1), report])].map(packet)
      response
        .writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' })
        .end(Buffer.concat([...bands, Buffer.from('0000')]))
    })
    return true
  }

async function pushTo(remote: string, instead: Answer, at: string | null = null, more: { wallMs?: number; signal?: AbortSignal } = {}) {
  const served = await startHttpRemote({ root: scene.folder, instead })
  const url = `${served.origin}/${remote.slice(scene.folder.length + 1)}`
  return {
    result: await pushCommit({ store: scene.store, url, sha: newer, ref, expect: at, credential: async () => token, ...more }),
    served,
  }
}

test.each([
  ['refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission', 'workflows'],
  ['refusing to allow an OAuth App to create or update workflow `.github/workflows/ci.yml` without `workflow` scope', 'workflows'],
  ['protected branch hook declined', 'protected'],
  ['push declined due to repository rule violations', 'protected'],
  ['push declined due to email privacy restrictions', 'denied'],
  ['deny updating a hidden ref', 'denied'],
  ['pre-receive hook declined', 'other'],
  ['', 'other'],
] as const)('Q51: the answer “%s” for the ref is %s', async (reason, expected) => {
  // The prose names another class each time: it must not count.
  const prose = `remote: error: GH013: Repository rule violations; without \`workflows\` permission; protected branch; ${token}`
  const { result } = await pushTo(makeRemote(ours), refuse(reason, prose), ours)
  expect(result).toMatchObject({ kind: 'rejected', reason: expected, remoteSha: ours })
  expect(JSON.stringify(result)).toContain(JSON.stringify(reason).slice(1, -1))
  expect(JSON.stringify(result)).not.toContain(token)
})

test.each([
  [
    'a ruleset',
    'push declined due to repository rule violations',
    ['error: GH013: Repository rule violations found for refs/heads/grok/fix-1.', '', '- Commits must have verified signatures.'],
    'GH013: Repository rule violations found for refs/heads/grok/fix-1. - Commits must have verified signatures.',
  ],
  [
    'push protection',
    'push declined due to repository rule violations',
    ['Resolving deltas: 100% (1/1)', 'error: GH013: Repository rule violations found for refs/heads/x.', '- Push cannot contain secrets'],
    'GH013: Repository rule violations found for refs/heads/x. - Push cannot contain secrets',
  ],
  [
    'the workflows permission, about which nothing more is printed',
    'refusing to allow a GitHub App to create or update workflow `ci.yml` without `workflows` permission',
    ['Resolving deltas: 100% (1/1)'],
    'refusing to allow a GitHub App to create or update workflow `ci.yml` without `workflows` permission',
  ],
  [
    'a hook that floods',
    'pre-receive hook declined',
    [`error: ${'x'.repeat(5_000)}`, ...Array(100).fill('y')],
    `${'x'.repeat(293)}${' y'.repeat(11)}`,
  ],
  ['a hook with a token in it', 'pre-receive hook declined', [`error: ${token} \u001b[31mred`], expect.stringMatching(/^\S+ {2}\[31mred$/)],
] as const)('Q51: of %s it is said what the remote said', async (_, reason, prose, said) => {
  const { result } = await pushTo(makeRemote(ours), refuse(reason, prose.join('\n')), ours)
  expect(result).toMatchObject({ kind: 'rejected', said })
  expect(JSON.stringify(result)).not.toContain(token)
})

const ruled = 'push declined due to repository rule violations'
test.each([
  ['a ruleset that takes signed commits only', ruled, '- Commits must have verified signatures.', 'unsigned'],
  ['a protection that does', 'protected branch hook declined', 'error: Commits must have verified signatures.', 'unsigned'],
  ['a ruleset with another rule', ruled, '- Changes must be made through a pull request.', 'protected'],
  ['a secret that is called like that', ruled, '- Push cannot contain secrets: Commits must have verified signatures.', 'protected'],
  ['a hook that says so and is no rule', 'pre-receive hook declined', '- Commits must have verified signatures.', 'other'],
] as const)('Q51: %s', async (_, reason, line, expected) => {
  const { result } = await pushTo(makeRemote(ours), refuse(reason, `error: GH013: Repository rule violations found.\n\n${line}`), ours)
  expect(result).toMatchObject({ kind: 'rejected', reason: expected })
})

test('Q43: success is what the remote has: an answer of ok without the ref is no push', async () => {
  const lie: Answer = (request, response) => {
    if (!request.url?.endsWith('/git-receive-pack') || request.method !== 'POST') return false
    request.resume()
    request.on('end', () => {
      const report = `000eunpack ok\n${(`ok ${ref}\n`.length + 4).toString(16).padStart(4, '0')}ok ${ref}\n0000`
      const band = `${(report.length + 5).toString(16).padStart(4, '0')}\u0001${report}0000`
      response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' }).end(band)
    })
    return true
  }
  const { result } = await pushTo(makeRemote(ours), lie, ours)
  expect(result).toMatchObject({ kind: 'rejected', reason: 'other', remoteSha: ours })
})

test('an answer lost after the remote took the push is found by reading the ref', async () => {
  const remote = makeRemote(ours)
  const lost: Answer = (request, response) => {
    if (!request.url?.endsWith('/git-receive-pack') || request.method !== 'POST') return false
    sh(scene.store.path, `git --git-dir=. push -q ${remote} ${newer}:${ref}`)
    response.destroy()
    return true
  }
  const { result } = await pushTo(remote, lost, ours)
  expect(result).toEqual({ kind: 'pushed', remoteSha: newer })
})

test('when the remote is gone afterwards the push is unknown, not failed', async () => {
  let down = false
  const gone: Answer = (request, response) => {
    if (request.url?.endsWith('/git-receive-pack') && request.method === 'POST') down = true
    if (down) response.destroy()
    return down
  }
  const { result } = await pushTo(makeRemote(ours), gone, ours)
  expect(result).toMatchObject({ kind: 'unknown' })
})

const isPush = (request: IncomingMessage) => request.url?.endsWith('/git-receive-pack') && request.method === 'POST'

test.each([500, 502, 503, 504])('a push that is answered %i is unknown: the pack may still be taken', async status => {
  const broken: Answer = (request, response) => {
    if (!isPush(request)) return false
    request.resume()
    request.on('end', () => response.writeHead(status, { 'content-type': 'text/html' }).end('<html>'))
    return true
  }
  const { result } = await pushTo(makeRemote(ours), broken, ours)
  expect(result).toMatchObject({ kind: 'unknown' })
})

test('a push that gets no answer in its time is unknown', async () => {
  const silent: Answer = request => isPush(request) ?? false
  const { result } = await pushTo(makeRemote(ours), silent, ours, { wallMs: 1_000 })
  expect(result).toMatchObject({ kind: 'unknown' })
})

test('a push that is stopped ends at once and is unknown', async () => {
  const silent: Answer = request => isPush(request) ?? false
  const startedAt = Date.now()
  const { result } = await pushTo(makeRemote(ours), silent, ours, { signal: AbortSignal.timeout(700) })
  expect(result).toMatchObject({ kind: 'unknown' })
  expect(Date.now() - startedAt).toBeLessThan(3_000)
})

test('a rate limit of the remote is no denial', async () => {
  const limited: Answer = (request, response) => {
    if (!request.url?.includes('git-receive-pack')) return false
    response.writeHead(403, { 'retry-after': '60' }).end('later')
    return true
  }
  const { result } = await pushTo(makeRemote(ours), limited, ours)
  expect(result).toMatchObject({ kind: 'unknown' })
})

test('an archived repository refuses in its own words', async () => {
  const archived: Answer = (request, response) => {
    if (!request.url?.includes('git-receive-pack')) return false
    response.writeHead(403, { 'content-type': 'text/plain' }).end('This repository was archived so it is read-only.')
    return true
  }
  const { result } = await pushTo(makeRemote(ours), archived, ours)
  expect(result).toMatchObject({ kind: 'rejected', reason: 'denied', said: 'This repository was archived so it is read-only.' })
})

test.each([401, 403])('a remote that answers %i to a push has denied it', async status => {
  const deny: Answer = (request, response) => {
    if (!request.url?.includes('git-receive-pack')) return false
    response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {}).end('ok, pushed')
    return true
  }
  const { result } = await pushTo(makeRemote(ours), deny, ours)
  expect(result).toMatchObject({ kind: 'rejected', reason: 'denied', remoteSha: ours })
  expect(JSON.stringify(result)).not.toContain(token)
})

test('only the very ref is read back, not one whose name ends like it', async () => {
  const remote = makeRemote(null)
  plainGit(remote, 'update-ref', `refs/x/${ref}`, 'refs/heads/main')
  expect(await readRemoteRef({ url: remote, ref })).toEqual({ kind: 'read', sha: null })
  expect(await readRemoteRef({ url: remote, ref: 'refs/heads/main' })).toEqual({ kind: 'read', sha: scene.base })
  expect(await readRemoteRef({ url: join(scene.folder, 'nothing'), ref })).toMatchObject({ kind: 'failed' })
})

test('the same commit is made from the same facts, with odd names and messages kept exactly', async () => {
  const facts = { store: scene.store, tree: scene.baseTree, parents: [scene.base], at: 1_699_999_999_999 }
  const message = 'Fix: café\r\n\r\n# not a comment\n\ttab  \n\n\nskip-checks: true'
  const sha = await commitTree({ ...facts, message, author: { name: 'A <b>\n c', email: 'x<y>@z' } })
  expect(await commitTree({ ...facts, message, author: { name: 'A <b>\n c', email: 'x<y>@z' } })).toBe(sha)
  expect(sh(scene.store.path, `git --git-dir=. cat-file commit ${sha}`)).toBe(
    `tree ${scene.baseTree}\nparent ${scene.base}\nauthor A b c <xy@z> 1699999999 +0000\ncommitter A b c <xy@z> 1699999999 +0000\n\n${message}\n`,
  )
  await expect(commitTree({ ...facts, message: 'a\0b', author })).rejects.toThrow('NUL')
  await expect(commitTree({ ...facts, message, author: { name: '<>', email: 'x' } })).rejects.toThrow('author')
})
