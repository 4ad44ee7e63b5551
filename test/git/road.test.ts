import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitTree, diffTrees, pushCommit, readFileAt, readRemoteRef, resolveBase } from '../../git/index.ts'
import { asAgent, makeScene, plainGit, readTree, sampleFiles, takeTree, workspaceOf } from './scene.ts'

test('a change made inside a sandbox becomes a tree, a diff, a commit and a pushed branch', async () => {
  const scene = await makeScene()
  expect(await resolveBase(scene.mirror, 'main')).toEqual({ kind: 'found', ref: 'refs/heads/main', sha: scene.base, tree: scene.baseTree })
  expect(await readFileAt(scene.mirror, scene.base, 'README.md')).toEqual({
    kind: 'file',
    content: Buffer.from('# Sample\n'),
    mode: '100644',
  })

  const workspace = await workspaceOf(scene)
  expect(workspace.files).toBe(4)
  expect(asAgent(scene, workspace, 'git status --porcelain; git log --format=%s; git diff-files --raw')).toBe('first\n')
  asAgent(
    scene,
    workspace,
    'echo "export const add = (a, b) => a + b" > src/add.js; echo new > src/new.js; echo stray > stray.txt; echo x > y.log',
  )

  const all = await takeTree(scene, workspace)
  expect(all).toMatchObject({ kind: 'adopted', untracked: ['src/new.js', 'stray.txt'], gitlinksLeftOut: [], specialsLeftOut: [] })
  const change = await takeTree(scene, workspace, { kind: 'change', include: ['src/new.js', 'not-there', '../outside', 'y.log'] })
  if (change.kind !== 'adopted') throw new Error(change.reason)
  expect(readTree(scene, change.tree)).toEqual({
    '100644 .gitignore': sampleFiles['.gitignore'],
    '100644 README.md': sampleFiles['README.md'],
    '100644 src/add.js': 'export const add = (a, b) => a + b\n',
    '100644 src/keep.js': sampleFiles['src/keep.js'],
    '100644 src/new.js': 'new\n',
    '100644 y.log': 'x\n',
  })

  const diff = await diffTrees(scene.store, scene.baseTree, change.tree)
  expect(diff.files).toEqual([
    { path: 'src/add.js', status: 'modified', from: null, mode: '100644', added: 1, removed: 1, notes: [] },
    { path: 'src/new.js', status: 'added', from: null, mode: '100644', added: 1, removed: 0, notes: [] },
    { path: 'y.log', status: 'added', from: null, mode: '100644', added: 1, removed: 0, notes: [] },
  ])

  const author = { name: 'grokbot[bot]', email: '1+grokbot[bot]@users.noreply.example' }
  const made = { store: scene.store, tree: change.tree, parents: [scene.base], message: 'Fix add', author, at: 1_700_000_000_999 }
  const sha = await commitTree(made)
  expect(await commitTree(made)).toBe(sha)

  const remote = join(scene.folder, 'remote.git')
  mkdirSync(remote)
  plainGit(remote, 'init', '-q', '--bare')
  const push = { store: scene.store, url: remote, sha, ref: 'refs/heads/grok/fix-1', expect: null }
  expect(await pushCommit(push)).toEqual({ kind: 'pushed', remoteSha: sha })
  expect(await readRemoteRef({ url: remote, ref: 'refs/heads/grok/fix-1' })).toEqual({ kind: 'read', sha })
  await workspace.remove()
})
