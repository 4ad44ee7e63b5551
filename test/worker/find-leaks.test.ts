import { expect, test } from 'vitest'
import { diffTrees } from '../../git/index.ts'
import { registerSecret } from '../../telemetry/index.ts'
import { findLeaks } from '../../worker/find-leaks.ts'
import { makeFolder, makeRepository, openScene, plainGit, sh, writeFiles } from '../git/scene.ts'

const token = `ghp_${'Ab1'.repeat(12)}`

/** What a change of these files gives: with its patch, and as if the patch had been too large to be made. */
async function leaksOf(
  files: Parameters<typeof writeFiles>[1],
  more = 'true',
  limits?: Parameters<typeof findLeaks>[3],
  base: typeof files = {},
) {
  const folder = makeFolder()
  const project = makeRepository(folder, { 'value.txt': 'broken\n', 'gone.txt': 'gone\n', ...base })
  const baseTree = plainGit(project, 'rev-parse', 'HEAD^{tree}')
  writeFiles(project, files)
  sh(project, more)
  plainGit(project, 'add', '-A')
  plainGit(project, 'commit', '-q', '-m', 'second')
  const { store } = await openScene(folder, project)
  const tree = plainGit(project, 'rev-parse', 'HEAD^{tree}')
  const [whole, cut] = [await diffTrees(store, baseTree, tree), await diffTrees(store, baseTree, tree, 10)]
  expect([whole.patch === null, cut.patch]).toEqual([false, null])
  return { patched: await findLeaks(store, tree, whole, limits), unpatched: await findLeaks(store, tree, cut, limits) }
}

test('a change that is too large for a patch is searched file by file, and what can not be searched is left out and named', async () => {
  const files = { 'value.txt': 'fixed\n', 'config.js': `'${token}'\n`, 'link.txt': { link: 'value.txt' } }
  const found = { path: 'config.js', reason: 'adds what looks like a GitHub token' }
  expect(await leaksOf(files, 'rm gone.txt; truncate -s 16777217 big.bin')).toEqual({
    patched: [{ path: 'big.bin', reason: 'not searched for credentials: larger than 16777216 bytes' }, found],
    unpatched: [
      { path: 'big.bin', reason: 'not searched for credentials: larger than 16777216 bytes' },
      found,
      { path: 'link.txt', reason: 'not searched for credentials: a symlink in a change that is too large for a patch' },
    ],
  })
})

test('more binary files than are read are left out and named, and none of text', async () => {
  const files = { '1.bin': '\0a', '2.bin': '\0b', '3.bin': '\0c', '4.bin': '\0d', 'a.txt': 'a\n', 'z.txt': `${token}\n` }
  const reason = 'not searched for credentials: more than 2 files would have to be read whole'
  const unread = (...paths: string[]) => paths.map(path => ({ path, reason }))
  expect(await leaksOf(files, 'true', { binaryBytesMax: 100, binaryFilesMax: 2 })).toEqual({
    patched: [...unread('3.bin', '4.bin'), { path: 'z.txt', reason: 'adds what looks like a GitHub token' }],
    unpatched: unread('3.bin', '4.bin', 'a.txt', 'z.txt'),
  })
})

test('a file whose name, or whose folder\u2019s name, is a token is left out and named', async () => {
  const reason = 'its name holds what looks like a credential'
  const leaks = [`${token}/a.txt`, `b-${token}.txt`].map(path => ({ path, reason })).sort((a, b) => (a.path < b.path ? -1 : 1))
  const found = await leaksOf({ [`${token}/a.txt`]: 'a\n', [`b-${token}.txt`]: 'b\n', 'c.txt': 'c\n' })
  for (const list of Object.values(found)) expect(list.sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(leaks)
})

/** Twenty characters that look like the id of a key. */
const keyId = (at: number) => `AKIA${at.toString(36).toUpperCase().padStart(16, '0')}`
const keyIds = (from: number, count: number) => Array.from({ length: count }, (_, at) => `key ${keyId(from + at)}\n`)

test('a file full of keys in place of another is searched in time, and only what is new in it is found', { timeout: 60_000 }, async () => {
  const old = keyIds(0, 50_000)
  const base = { 'moved.txt': old.join(''), 'new.txt': old.join('') }
  const files = { 'moved.txt': old.toReversed().join(''), 'new.txt': [...keyIds(50_000, 20_000), ...old.toReversed()].join('') }
  const startedAt = performance.now()
  const { patched } = await leaksOf(files, 'true', undefined, base)
  expect(performance.now() - startedAt).toBeLessThan(15_000)
  expect(patched).toEqual([{ path: 'new.txt', reason: 'adds what looks like a AWS key id' }])
})

test('what was only a part of something longer is new when it stands alone', async () => {
  const { patched } = await leaksOf({ 'long.txt': `x = ${token}\n` }, 'true', undefined, { 'long.txt': `x = ${token}ABC\n` })
  expect(patched).toEqual([{ path: 'long.txt', reason: 'adds what looks like a GitHub token' }])
})

test('a credential of ours is found in UTF-16, over lines and in wrapped base64, and one of a known shape in UTF-16', async () => {
  const key = 'Zq8wLk3NpR7tVx2YbC5dFg9HaQ1sWe4rTy6uIo0p'
  const wrapped = (text: string, width: number) => (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join('\n')
  const wide = (text: string) => Buffer.from(`\ufeffkey = ${text}\r\n`, 'utf16le')
  const files = {
    'base64.txt': `${wrapped(Buffer.from(`the key is ${key}, said it`).toString('base64'), 20)}\n`,
    'lines.txt': `${wrapped(key, 7)}\n`,
    'none.txt': wide('nothing of it'),
    'shape.txt': wide(token),
    'signs.txt': `${key.match(/.{1,3}/g)?.join('-_/+=')}\n`,
    'swapped.txt': wide(key).swap16(),
    'wide.txt': wide(key),
  }
  const shape = { path: 'shape.txt', reason: 'adds what looks like a GitHub token' }
  expect(await leaksOf(files)).toEqual({ patched: [shape], unpatched: [shape] })
  registerSecret(key)
  const own = ['base64.txt', 'lines.txt', 'signs.txt', 'swapped.txt', 'wide.txt'].map(path => ({
    path,
    reason: 'adds what looks like a credential of this installation',
  }))
  const found = [...own, shape].sort((a, b) => (a.path < b.path ? -1 : 1))
  expect(await leaksOf(files)).toEqual({ patched: found, unpatched: found })
})

test('a long file is searched in pieces: what stands on their border is found where it is new, and only there', {
  timeout: 60_000,
}, async () => {
  const line = `${'lorem ipsum '.repeat(40)}\n`
  const around = (text: string) => line.repeat(8_700) + text.repeat(2_000) + line.repeat(100)
  const known = around(`x = ${token}\n`)
  const files = {
    'moved.txt': `first\n${around(`y = ${token}\n`)}`,
    'new.txt': `${'a'.repeat(4_194_290)} ${token} ${'a'.repeat(100_000)}\n`,
  }
  expect((await leaksOf(files, 'true', undefined, { 'moved.txt': known })).patched).toEqual([
    { path: 'new.txt', reason: 'adds what looks like a GitHub token' },
  ])
})
