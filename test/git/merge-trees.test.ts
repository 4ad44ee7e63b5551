import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mergeTrees } from '../../git/index.ts'
import { openSharedScene, personEnv, readTree, type Scene, sh, writeFiles } from './scene.ts'

let scene: Scene
let end: () => void
let trees = 0

beforeAll(async () => {
  const opened = await openSharedScene()
  scene = opened.scene
  end = opened.end
})
afterAll(() => end())

/** Puts files as a tree into the store. */
function treeOf(files: Parameters<typeof writeFiles>[1]): string {
  const folder = join(scene.folder, `tree-${trees++}`)
  writeFiles(folder, files)
  const git = `GIT_INDEX_FILE=${folder}.index git --git-dir=${scene.store.path} --work-tree=.`
  return sh(folder, `${git} add -A .; ${git} write-tree`, personEnv).trim()
}

const lines = (first: string, last: string) => [first, '2', '3', '4', '5', '6', '7', '8', last, ''].join('\n')
type Files = Parameters<typeof writeFiles>[1]

test.each([
  [
    'other lines of one file',
    { a: lines('1', '9') },
    { a: lines('1', 'nine') },
    { a: lines('one', '9') },
    { '100644 a': lines('one', 'nine') },
  ],
  ['other files', { a: '1', b: '1' }, { a: '2', b: '1' }, { a: '1', b: '2' }, { '100644 a': '2', '100644 b': '2' }],
  ['the same change on both sides', { a: '1' }, { a: '2' }, { a: '2' }, { '100644 a': '2' }],
  [
    'a file that was renamed there',
    { a: lines('1', '9') },
    { a: lines('1', 'nine') },
    { b: lines('1', '9') },
    { '100644 b': lines('1', 'nine') },
  ],
  ['a removed file', { a: '1', b: '1' }, { b: '1' }, { a: '1', b: '2' }, { '100644 b': '2' }],
  [
    'a file that became executable',
    { a: '1', b: '1' },
    { a: { exec: '1' }, b: '1' },
    { a: '1', b: '2' },
    { '100755 a': '1', '100644 b': '2' },
  ],
  // The branch was rewritten: what it no longer has does not come back with our change.
  ['a branch that lost a file we did not touch', { a: '1', b: '1' }, { a: '2', b: '1' }, { a: '1' }, { '100644 a': '2' }],
] as const)('%s: both changes are in the tree', async (_, base, ours, theirs, expected) => {
  const merged = await mergeTrees(scene.store, {
    base: treeOf(base as Files),
    ours: treeOf(ours as Files),
    theirs: treeOf(theirs as Files),
  })
  expect(merged).toEqual({ kind: 'merged', tree: expect.stringMatching(/^[0-9a-f]{40}$/) })
  if (merged.kind === 'merged') expect(readTree(scene, merged.tree)).toEqual(expected)
})

test.each([
  ['the same line', { a: '1\n', b: '1' }, { a: '2\n', b: '1' }, { a: '3\n', b: '1' }, ['a']],
  ['a file they removed', { 'a b': '1\n' }, { 'a b': '2\n' }, { c: '1' }, ['a b']],
  ['two files of one name', { x: '1' }, { x: '1', 'new\nname': '1' }, { x: '1', 'new\nname': '2' }, ['new\nname']],
] as const)('%s is a conflict, with its path', async (_, base, ours, theirs, paths) => {
  const sides = { base: treeOf(base as Files), ours: treeOf(ours as Files), theirs: treeOf(theirs as Files) }
  expect(await mergeTrees(scene.store, sides)).toEqual({ kind: 'conflict', paths })
})

test('a merge driver that the attributes of a tree name is not run', async () => {
  const attributes = '* merge=evil\n'
  const tripwire = join(scene.folder, 'driver-ran')
  const side = (text: string) => treeOf({ '.gitattributes': attributes, a: text })
  const sides = { base: side('1\n'), ours: side('2\n'), theirs: side('3\n') }
  // Red: where a configuration defines it, git runs it.
  const evil = `git -C ${scene.folder}/evil`
  sh(
    scene.folder,
    `git init -q evil; ${evil} config merge.evil.driver 'touch ${tripwire}; false'; ${evil} config user.name x; ${evil} config user.email x`,
  )
  sh(
    join(scene.folder, 'evil'),
    `printf '${attributes}' > .gitattributes; echo 1 > a; git add -A; git commit -qm base; git checkout -qb o; echo 2 > a; git commit -qam o; git checkout -q -; echo 3 > a; git commit -qam t; git merge o || true`,
  )
  expect(existsSync(tripwire)).toBe(true)
  sh(scene.folder, `rm ${tripwire}`)
  expect(await mergeTrees(scene.store, sides)).toEqual({ kind: 'conflict', paths: ['a'] })
  expect(existsSync(tripwire)).toBe(false)
})
