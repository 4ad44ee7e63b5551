import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { readChange } from '../../git/index.ts'
import { openSharedScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  const opened = await openSharedScene()
  scene = opened.scene
  return opened.end
})

const limits = { filesMax: 3, bytesMax: 10 }
const git = (input: string | Buffer, ...argv: string[]) =>
  execFileSync('git', ['--git-dir', scene.store.path, ...argv], { input, encoding: 'latin1' }).trim()
const blob = (content: string) => git(Buffer.from(content, 'latin1'), 'hash-object', '-w', '--stdin')
const tree = (...entries: string[]) => git(Buffer.from(entries.join(''), 'latin1'), 'mktree', '-z', '--missing')
const file = (name: string, content: string, mode = '100644') => `${mode} blob ${blob(content)}\t${name}\0`
const module = (name: string, sha: string) => `160000 commit ${sha}\t${name}\0`
const read = async (from: string, to: string) => await readChange(scene.store, from, to, limits)

test('what differs is read with all bytes, what is gone first', async () => {
  const from = tree(file('a', '1'), file('b', '2'), file('same', '3'), module('m', '1'.repeat(40)))
  const to = tree(file('b', '\xff\0', '100755'), file('same', '3'), module('m', '2'.repeat(40)))
  expect(await read(from, to)).toEqual({
    kind: 'read',
    baseTree: from,
    entries: [
      { path: 'a', mode: '100644', content: null },
      { path: 'b', mode: '100755', content: Buffer.from([255, 0]) },
      { path: 'm', mode: '160000', content: Buffer.from('2'.repeat(40)) },
    ],
  })
})

test.each([
  ['too many files', () => ['a', 'b', 'c', 'd'].map(name => file(name, '')), 'it has 4 files, more than 3'],
  ['one file that is too large', () => [file('a', 'x'.repeat(11))], 'it has more than 10 bytes'],
  ['files that are too large together', () => [file('a', '123456'), file('b', '12345')], 'it has more than 10 bytes'],
  ['a name that is no text', () => [file('\xe4', '')], 'a name in it is no text'],
] as const)('%s', async (_, entries, reason) => {
  expect(await read(tree(), tree(...entries()))).toEqual({ kind: 'refused', reason })
})
