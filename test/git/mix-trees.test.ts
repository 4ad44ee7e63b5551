import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { mixTrees } from '../../git/index.ts'
import { listNames, openSharedScene, personEnv, plainGit, readTree, type Scene, sh, writeFiles } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  const opened = await openSharedScene()
  scene = opened.scene
  return opened.end
})

/** Puts files as a tree into the store. */
function treeOf(files: Parameters<typeof writeFiles>[1], oddName?: Buffer): string {
  const folder = join(scene.folder, `tree-${listNames(scene.folder).length}`)
  writeFiles(scene.folder, { [`${folder.slice(scene.folder.length + 1)}/.keep`]: '' })
  writeFiles(folder, files)
  if (oddName) writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), oddName]), 'odd')
  const git = `GIT_INDEX_FILE=${folder}.index git --git-dir=${scene.store.path} --work-tree=.`
  return sh(folder, `rm .keep; ${git} add -A .; ${git} write-tree`, personEnv).trim()
}

test.each([
  ['a changed file is taken back', { a: '1', b: '1' }, { a: '2', b: '2' }, ['a'], { '100644 a': '1', '100644 b': '2' }],
  ['a new file goes', { b: '1' }, { a: '2', b: '2' }, ['a'], { '100644 b': '2' }],
  ['a deleted file comes back', { a: '1', 'x/y': '1' }, { a: '2' }, ['x/y'], { '100644 a': '2', '100644 x/y': '1' }],
  [
    'mode and type come back',
    { a: { exec: '1' }, l: { link: 'a' } },
    { a: '1', l: 'file' },
    ['a', 'l'],
    { '100755 a': '1', '120000 l': 'a' },
  ],
  ['a folder takes the place of a file', { 'a/b': '1' }, { a: '2', c: '2' }, ['a', 'a/b'], { '100644 a/b': '1', '100644 c': '2' }],
  ['a file takes the place of a folder', { a: '1' }, { 'a/b': '2', c: '2' }, ['a', 'a/b'], { '100644 a': '1', '100644 c': '2' }],
  ['both sides of a rename', { '.github/x': '1' }, { 'docs/x': '1' }, ['docs/x', '.github/x'], { '100644 .github/x': '1' }],
  [
    'names git would take for patterns or options',
    { '*': '1', '-x': '1', 'n\nl': '1' },
    { '*': '2', '-x': '2', 'n\nl': '2', z: '2' },
    ['*', '-x', 'n\nl'],
    { '100644 *': '1', '100644 -x': '1', '100644 n\nl': '1', '100644 z': '2' },
  ],
  ['a path in neither tree changes nothing', { a: '1' }, { a: '2' }, ['nowhere'], { '100644 a': '2' }],
  ['no path at all changes nothing', { a: '1' }, { a: '2' }, [], { '100644 a': '2' }],
] as const)('%s', async (_, from, into, paths, expected) => {
  const mixed = await mixTrees(scene.store, { from: treeOf(from), into: treeOf(into), paths })
  expect(readTree(scene, mixed)).toEqual(expected)
  expect(listNames(scene.store.path).filter(name => name.includes('index'))).toEqual([])
})

test('a name that is no UTF-8 is found by how it is shown', async () => {
  const odd = Buffer.from([0x61, 0xff])
  const mixed = await mixTrees(scene.store, { from: treeOf({ b: '1' }), into: treeOf({ b: '2' }, odd), paths: ['a\\xff'] })
  expect(plainGit(scene.store.path, '--git-dir=.', 'ls-tree', '--name-only', mixed)).toBe('b')
})
