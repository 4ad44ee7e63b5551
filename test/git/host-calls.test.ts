import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { diffTrees } from '../../git/index.ts'
import { git, runGit } from '../../git/run-git.ts'
import { asAgent, makeFolder, makeRepository, makeScene, openScene, plainGit, sh, takeTree, workspaceOf } from './scene.ts'

const wallMs = 30_000

/** Whatever the environment of the host holds, this is what reaches git. A name is added here on purpose only. */
test('a git process of the host gets these variables and no other', async () => {
  const before = { ...process.env }
  onTestFinished(() => {
    process.env = before
  })
  Object.assign(process.env, {
    GIT_DIR: '/nonexistent',
    GIT_EXEC_PATH: '/nonexistent',
    GIT_SSH: '/nonexistent',
    GIT_EXTERNAL_DIFF: '/nonexistent',
    GIT_CONFIG_PARAMETERS: "'core.fsmonitor=false'",
    LD_PRELOAD: '',
    HOME: '/root',
    SECRET: 'canary',
  })
  const output = await git({ argv: ['-c', 'alias.environment=!env', 'environment'], wallMs })
  const given = new Map(
    output
      .toString('utf8')
      .split('\n')
      .filter(line => line.includes('='))
      .map(line => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  )
  // What git and its alias's shell add themselves.
  const added = ['GIT_EXEC_PATH', 'GIT_PREFIX', 'GIT_CONFIG_PARAMETERS', 'PWD', 'OLDPWD', 'SHLVL', '_']
  expect([...given.keys()].filter(name => !added.includes(name)).sort()).toEqual([
    'GIT_ALLOW_PROTOCOL',
    'GIT_ASKPASS',
    'GIT_ATTR_NOSYSTEM',
    'GIT_CONFIG_GLOBAL',
    'GIT_CONFIG_NOSYSTEM',
    'GIT_CONFIG_SYSTEM',
    'GIT_EDITOR',
    'GIT_LFS_SKIP_SMUDGE',
    'GIT_NO_LAZY_FETCH',
    'GIT_NO_REPLACE_OBJECTS',
    'GIT_OPTIONAL_LOCKS',
    'GIT_PAGER',
    'GIT_PROTOCOL_FROM_USER',
    'GIT_SSH_COMMAND',
    'GIT_TERMINAL_PROMPT',
    'HOME',
    'LC_ALL',
    'PATH',
    'SSH_ASKPASS',
    'TZ',
    'XDG_CONFIG_HOME',
  ])
  expect(given.get('GIT_EXEC_PATH')).not.toBe('/nonexistent')
  expect(given.get('HOME')).toBe('/nonexistent')
})

test('the only configuration git reads is the host’s own file', async () => {
  const listed = (await git({ argv: ['config', '--list', '--show-origin', '-z'], wallMs })).toString('utf8').split('\0').filter(Boolean)
  const origins = new Set(listed.filter((_, index) => index % 2 === 0))
  expect([...origins]).toEqual([`file:${join(import.meta.dirname, '../../git/host.gitconfig')}`])
})

test('a process that prints too much, or takes too long, ends with all its children', async () => {
  expect(await runGit({ argv: ['-c', 'alias.x=!yes', 'x'], stdoutBytesMax: 100_000, wallMs })).toMatchObject({
    exitCode: null,
    ended: 'too-much-output',
  })
  expect(await runGit({ argv: ['-c', 'alias.x=!sleep 61234 & sleep 61235', 'x'], wallMs: 300 })).toMatchObject({
    exitCode: null,
    ended: 'timed-out',
  })
  const left = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      } catch {
        return ''
      }
    })
    .filter(line => line.startsWith('sleep\x006123'))
  expect(left).toEqual([])
})

test('no attribute of a change hides a part of its diff', async () => {
  const scene = await makeScene({ 'a.js': 'one\n', 'b.lock': 'one\n', '.gitattributes': 'a.js -diff\n' })
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, 'echo "*.js -diff linguist-generated\n* binary" > .gitattributes; echo two > a.js; echo two > b.lock')
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  const { files, patch } = await diffTrees(scene.store, scene.baseTree, adopted.tree)
  expect(files.map(({ path, added, removed }) => `${path} +${added} -${removed}`)).toEqual([
    '.gitattributes +2 -1',
    'a.js +1 -1',
    'b.lock +1 -1',
  ])
  expect(Buffer.from(patch ?? []).toString()).toContain('-one\n+two\n')
  // Red: in a work tree git obeys them.
  sh(scene.project, 'echo "* binary" > .gitattributes; echo two > a.js')
  expect(plainGit(scene.project, 'diff', '--numstat', 'a.js')).toBe('-\t-\ta.js')
})

test('a patch above its limit is left away, its rows stay', async () => {
  const scene = await makeScene()
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, 'seq 20000 > big.txt')
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  const diff = await diffTrees(scene.store, scene.baseTree, adopted.tree, 10_000)
  expect(diff).toEqual({
    patch: null,
    files: [{ path: 'big.txt', status: 'added', from: null, mode: '100644', added: 20_000, removed: 0, notes: [] }],
  })
})

test('a repository whose objects were made by an old git is mirrored and changed like any other', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder)
  // A tree with a mode of early git (100664), as long-lived projects have them.
  const blob = plainGit(project, 'hash-object', '-w', 'README.md')
  writeFileSync(join(folder, 'tree'), Buffer.concat([Buffer.from('100664 README.md\0'), Buffer.from(blob, 'hex')]))
  const tree = plainGit(project, 'hash-object', '-t', 'tree', '-w', '--literally', join(folder, 'tree'))
  plainGit(project, 'update-ref', 'refs/heads/main', plainGit(project, 'commit-tree', tree, '-m', 'old'))
  const scene = await openScene(folder, project)
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, 'echo new > new')
  const adopted = await takeTree(scene, workspace, { kind: 'change', include: ['new'] })
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  const { files } = await diffTrees(scene.store, scene.baseTree, adopted.tree)
  expect(files.map(file => file.path)).toEqual(['new'])
})
