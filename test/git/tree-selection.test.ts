import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planTree } from '../../git/index.ts'
import {
  asAgent,
  makeFolder,
  openScene,
  openSharedScene,
  plainGit,
  readTree,
  runPlan,
  type Scene,
  sampleFiles,
  sh,
  takeTree,
  workspaceOf,
} from './scene.ts'

let scene: Scene
let end: () => void
const submodule = '1234567890123456789012345678901234567890'

beforeAll(async () => {
  const opened = await openSharedScene({
    ...sampleFiles,
    'lib/a.js': 'a\n',
    'lib/b.js': 'b\n',
    'dir/x': 'x\n',
    link: { link: '/etc' },
    'run.sh': { exec: '#!/bin/sh\n' },
  })
  scene = opened.scene
  end = opened.end
})
afterAll(() => end())

type Expected = {
  untracked?: string[]
  gitlinks?: string[]
  specials?: string[]
  tree?: Record<string, string | null>
  refused?: { path: string; reason: RegExp }
}
type Case = { name: string; script: string; include?: string[]; expected: Expected }

const own = '-c user.name=x -c user.email=x@example.org'

/** `include` absent = a snapshot of everything. In `tree`, null means that there is no such entry. */
const cases: Case[] = [
  {
    name: 'an untracked file that is not listed stays out and is named',
    script: 'echo n > new; echo changed > README.md',
    include: [],
    expected: { untracked: ['new'], tree: { '100644 README.md': 'changed\n', '100644 new': null } },
  },
  {
    name: 'a listed folder brings its files, but not what is ignored in it',
    script: 'mkdir -p pkg/node_modules; echo 1 > pkg/one; echo 2 > pkg/two.log; echo 3 > pkg/node_modules/three; echo 4 > other',
    include: ['pkg'],
    expected: {
      untracked: ['other', 'pkg/one'],
      tree: { '100644 pkg/one': '1\n', '100644 pkg/two.log': null, '100644 pkg/node_modules/three': null, '100644 other': null },
    },
  },
  {
    name: 'a listed file is taken even when it is ignored',
    script: 'echo 1 > forced.log; mkdir node_modules; echo 2 > node_modules/patched',
    include: ['forced.log', 'node_modules/patched', './README.md'],
    expected: { untracked: [], tree: { '100644 forced.log': '1\n', '100644 node_modules/patched': '2\n' } },
  },
  {
    name: 'a listed pattern is a name and no pattern',
    script: 'echo 1 > one.txt; echo 2 > "*.txt"; echo 3 > ":(glob)x"; echo 4 > x',
    include: ['*.txt', ':(glob)x'],
    expected: { tree: { '100644 *.txt': '2\n', '100644 :(glob)x': '3\n', '100644 one.txt': null, '100644 x': null } },
  },
  {
    name: 'listed paths out of the work tree, through a link or of nothing name nothing',
    script: 'ln -s /etc out; ln -s .. up; echo 1 > new',
    include: [
      '../new',
      '/etc/hostname',
      'out/hostname',
      'link/hostname',
      'up/run.sh',
      'absent',
      '',
      '.',
      'a\0b',
      'new',
      '-x',
      '--',
      '.git/config',
    ],
    expected: { untracked: ['new', 'out', 'up'], tree: { '100644 new': '1\n', '120000 link': '/etc', '120000 out': null } },
  },
  {
    name: 'a listed link is taken as a link',
    script: 'ln -s /etc/passwd secret; ln -s src folder',
    include: ['secret', 'folder'],
    expected: { tree: { '120000 secret': '/etc/passwd', '120000 folder': 'src' } },
  },
  {
    name: 'modes, links and types of tracked files are kept exactly',
    script:
      'chmod -x run.sh; chmod +x README.md; ln -sfn ../up link; rm dir/x; ln -s y dir/x; rm lib/a.js; mkdir lib/a.js; echo in > lib/a.js/in',
    include: ['lib/a.js/in'],
    expected: {
      tree: {
        '100644 run.sh': '#!/bin/sh\n',
        '100755 README.md': '# Sample\n',
        '120000 link': '../up',
        '120000 dir/x': 'y',
        '100644 lib/a.js/in': 'in\n',
        '100644 lib/a.js': null,
      },
    },
  },
  {
    name: 'a folder that became a link hides nothing behind it',
    script: 'mv lib moved; ln -s moved lib; echo changed > moved/a.js',
    expected: {
      untracked: ['lib', 'moved/a.js', 'moved/b.js'],
      tree: { '100644 lib/a.js': null, '100644 lib/b.js': null, '120000 lib': 'moved', '100644 moved/a.js': 'changed\n' },
    },
  },
  {
    name: 'FIFOs, sockets and devices are left out and named when they stand where a file was',
    script:
      'mkfifo pipe; rm README.md; mkfifo README.md; rm src/add.js; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'src/add.js\')"; echo 1 > new',
    expected: {
      untracked: ['new'],
      specials: ['README.md', 'src/add.js'],
      tree: { '100644 README.md': null, '100644 src/add.js': null, '100644 new': '1\n' },
    },
  },
  {
    name: 'names git can not hold are left out and named',
    script: 'mkdir -p .GIT "a/.git " x; echo 1 > .GIT/config; echo 2 > "a/.git /hooks"; echo 3 > x/git~1; echo 4 > x/fine',
    expected: {
      untracked: ['x/fine'],
      specials: ['.GIT/config', 'a/.git /hooks', 'x/git~1'],
      tree: { '100644 x/fine': '4\n', '100644 .GIT/config': null },
    },
  },
  {
    name: 'a nested repository is left out and named, with commits or without',
    script: `git init -q with; git -C with ${own} commit -q --allow-empty -m x; echo 1 > with/file; git init -q without; echo 2 > without/file; echo 3 > new`,
    include: ['with', 'with/file', 'without/file', 'new'],
    expected: {
      untracked: ['new'],
      gitlinks: ['with', 'without'],
      tree: { '100644 new': '3\n', '160000 with': null, '100644 with/file': null },
    },
  },
  {
    name: 'a file that became a nested repository is gone and the repository is named',
    script: `rm README.md; git init -q README.md; git -C README.md ${own} commit -q --allow-empty -m x`,
    expected: { gitlinks: ['README.md'], tree: { '100644 README.md': null, '160000 README.md': null } },
  },
  {
    name: 'a folder with tracked files keeps them when a repository is made in it',
    script: `git init -q lib; git -C lib add .; git -C lib ${own} commit -q -m x; echo changed > lib/a.js; echo new > lib/new.js`,
    expected: { untracked: ['lib/new.js'], tree: { '100644 lib/a.js': 'changed\n', '100644 lib/new.js': 'new\n' } },
  },
  {
    name: 'a folder that its own user can not read is not taken for unchanged',
    script: 'echo changed > lib/a.js; chmod 000 lib',
    expected: { refused: { path: 'lib', reason: /can not be read/ } },
  },
  {
    name: 'a changed file that its own user can not read is not taken for unchanged',
    script: 'echo changed > README.md; chmod 000 README.md',
    expected: { refused: { path: 'README.md', reason: /can not be read/ } },
  },
  {
    name: 'a new file that its own user can not read refuses a snapshot',
    script: 'echo n > new; chmod 000 new',
    expected: { refused: { path: 'new', reason: /can not be read/ } },
  },
  {
    name: 'an index with conflicts, an unfinished merge and a stash of the agent do not matter',
    script: `git ${own} stash -q || true; echo ours > README.md; git update-index --index-info <<< "100644 $(git hash-object -w run.sh) 1	README.md"; touch .git/MERGE_HEAD`,
    expected: { tree: { '100644 README.md': 'ours\n' } },
  },
]

test.each(cases)('$name', async ({ script, include, expected }) => {
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, script)
  const adopted = await takeTree(scene, workspace, include ? { kind: 'change', include } : { kind: 'all' })
  if (expected.refused) {
    expect(adopted).toEqual({ kind: 'refused', path: expected.refused.path, reason: expect.stringMatching(expected.refused.reason) })
  } else {
    if (adopted.kind !== 'adopted') throw new Error(`${adopted.path}: ${adopted.reason}`)
    if (expected.untracked) expect(adopted.untracked).toEqual(expected.untracked)
    expect(adopted.gitlinksLeftOut).toEqual(expected.gitlinks ?? [])
    expect(adopted.specialsLeftOut).toEqual(expected.specials ?? [])
    const tree = readTree(scene, adopted.tree)
    for (const [path, content] of Object.entries(expected.tree ?? {})) expect(tree[path] ?? null, path).toBe(content)
  }
  await workspace.remove()
})

test('a snapshot has what is listed although git ignores it, and nothing else that git ignores', async () => {
  const workspace = await workspaceOf(scene)
  asAgent(
    scene,
    workspace,
    'mkdir -p node_modules/own; echo mine > node_modules/own/a.js; echo theirs > node_modules/b.js; echo new > new.txt',
  )
  const take = async (include: string[]) => {
    const adopted = await takeTree(scene, workspace, { kind: 'all', include })
    if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
    return Object.keys(readTree(scene, adopted.tree)).filter(name => /new|node_modules/.test(name))
  }
  expect(await take([])).toEqual(['100644 new.txt'])
  expect(await take(['node_modules/own/a.js', 'gone.txt'])).toEqual(['100644 new.txt', '100644 node_modules/own/a.js'])
  await workspace.remove()
})

test('D10: submodules of the base: untouched or emptied they stay; a moved one is refused in a change and named in a snapshot', async () => {
  const { scene: other, end: endOther } = await openSharedScene({ 'a.txt': 'a\n' })
  try {
    plainGit(other.project, 'update-index', '--add', '--cacheinfo', `160000,${submodule},sub`)
    plainGit(other.project, 'commit', '-q', '-m', 'a submodule')
    const withSub = await openScene(makeFolder(), other.project)
    const take = async (script: string, kind: 'all' | 'change') => {
      const workspace = await workspaceOf(withSub)
      expect(sh(workspace.path, 'ls -A sub')).toBe('')
      asAgent(withSub, workspace, script)
      const adopted = await takeTree(withSub, workspace, kind === 'all' ? { kind } : { kind, include: [] })
      await workspace.remove()
      if (adopted.kind !== 'adopted') return adopted
      return { ...adopted, tree: readTree(withSub, adopted.tree) }
    }
    const kept = { '100644 a.txt': 'b\n', '160000 sub': submodule }
    const edit = 'echo b > a.txt'
    expect(await take(edit, 'change')).toMatchObject({ tree: kept, gitlinksLeftOut: [] })
    expect(await take(`${edit}; echo in > sub/file`, 'change')).toMatchObject({ tree: kept, gitlinksLeftOut: ['sub'] })
    expect(await take(`${edit}; rmdir sub`, 'change')).toMatchObject({ tree: kept, gitlinksLeftOut: ['sub'] })
    const move = `${edit}; git init -q sub; git -C sub ${own} commit -q --allow-empty -m x`
    expect(await take(move, 'change')).toEqual({ kind: 'refused', path: 'sub', reason: 'a submodule was changed' })
    expect(await take(move, 'all')).toMatchObject({ tree: kept, gitlinksLeftOut: ['sub'] })
    expect(await take(`${edit}; rmdir sub; echo file > sub`, 'change')).toEqual({
      kind: 'refused',
      path: 'sub',
      reason: 'a submodule was changed',
    })
  } finally {
    endOther()
  }
})

test('a large edit comes out as a small pack, against what the base has', async () => {
  const big = Array.from({ length: 20_000 }, (_, line) => `${line} ${execHash(line)}`).join('\n')
  const { scene: other, end: endOther } = await openSharedScene({ 'folder/big.txt': big })
  try {
    const workspace = await workspaceOf(other)
    asAgent(other, workspace, 'sed -i "s/^7 .*/changed/" folder/big.txt')
    const plan = planTree({ workspace, store: other.store, selection: { kind: 'all' }, workDir: `${other.folder}/run` })
    runPlan(other, plan)
    expect(Number(execFileSync('stat', ['-c', '%s', `${plan.quarantine}/pack`], { encoding: 'utf8' }))).toBeLessThan(2000)
  } finally {
    endOther()
  }
})

function execHash(line: number): string {
  return ((line * 2654435761) % 4294967296).toString(36)
}
