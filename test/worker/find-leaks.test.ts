import { expect, test } from 'vitest'
import { diffTrees } from '../../git/index.ts'
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
