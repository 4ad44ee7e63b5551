import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProtected } from '../../domain/index.ts'
import { diffTrees, listLinks } from '../../git/index.ts'
import { asAgent, listNames, makeScene, sh, takeTree, workspaceOf } from './scene.ts'

const pointer = (digit: string) => `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize 1000000000\n`

/** Q54: no filter runs, so a work tree has pointers; an edit of one, or a whole file where one belongs, is named. */
test('files in Git LFS are checked out as pointers without the filter, and every change of one is named', async () => {
  const scene = await makeScene({
    '.gitattributes': '[attr]big filter=lfs diff=lfs merge=lfs -text\n*.bin big\n*.psd filter=lfs\n',
    'art/.gitattributes': '*.psd -filter\n',
    'data.bin': pointer('a'),
    'kept.bin': pointer('b'),
    'gone.bin': pointer('c'),
    'plain.txt': 'plain\n',
    'art/free.psd': 'not in LFS here\n',
  })
  // A filter that must not run: it would leave a trace, and `required` makes git fail without it.
  const trip = join(scene.folder, 'trip')
  mkdirSync(trip)
  chmodSync(trip, 0o777)
  writeFileSync(join(scene.folder, 'gitconfig'), `[filter "lfs"]\n\tsmudge = touch ${trip}/smudge\n\trequired = true\n`)
  process.env.GIT_CONFIG_GLOBAL = join(scene.folder, 'gitconfig')
  const workspace = await workspaceOf(scene).finally(() => delete process.env.GIT_CONFIG_GLOBAL)
  expect(asAgent(scene, workspace, 'cat data.bin')).toBe(pointer('a'))
  expect(await takeTree(scene, workspace)).toMatchObject({ tree: scene.baseTree })

  asAgent(
    scene,
    workspace,
    `echo raw > data.bin; echo raw > new.bin; rm gone.bin; echo edited > plain.txt; echo edited > art/free.psd; echo x > top.psd; printf '${pointer('d').replaceAll('\n', '\\n')}' > foreign.txt`,
  )
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  const { files } = await diffTrees(scene.store, scene.baseTree, adopted.tree)
  expect(Object.fromEntries(files.map(file => [file.path, file.notes]))).toEqual({
    'art/free.psd': [],
    'data.bin': ['Git LFS'],
    'foreign.txt': ['Git LFS'],
    'gone.bin': ['Git LFS'],
    'new.bin': ['Git LFS'],
    'plain.txt': [],
    'top.psd': ['Git LFS'],
  })
  expect(findProtected(files, { extra: [] }).map(({ path }) => path)).toEqual(['data.bin', 'foreign.txt', 'gone.bin', 'new.bin', 'top.psd'])
  expect(listNames(trip)).toEqual([])
  // The same with git as a person's configuration has it: the filter is a real one.
  sh(scene.folder, 'git clone -q project naive', { GIT_CONFIG_GLOBAL: join(scene.folder, 'gitconfig') })
  expect(listNames(trip)).toEqual(['smudge'])
})

test('an attribute that the change itself adds or removes counts on both sides', async () => {
  const scene = await makeScene({ '.gitattributes': '*.old filter=lfs\n', 'a.old': 'a\n', 'b.new': 'b\n' })
  const workspace = await workspaceOf(scene)
  asAgent(
    scene,
    workspace,
    'echo "*.new filter=lfs" > .gitattributes; echo 2 > a.old; echo 2 > b.new; mkdir x; ln -s ../.gitattributes x/.gitattributes; echo 1 > x/not.gitattributes',
  )
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  const { files } = await diffTrees(scene.store, scene.baseTree, adopted.tree)
  expect(files.filter(file => file.notes.includes('Git LFS')).map(file => file.path)).toEqual(['a.old', 'b.new'])
  expect(await listLinks(scene.store, adopted.tree)).toEqual([{ path: 'x/.gitattributes', target: '../.gitattributes' }])
})
