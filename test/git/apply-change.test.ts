import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { applyChange, type ProvenChange } from '../../git/index.ts'
import { appliedStatus, baseFiles, makeApplyScene, makeChange, standing } from './apply-scene.ts'
import { plainGit, sh } from './scene.ts'

const longAgo = 1_600_000_000
const applied = { kind: 'applied' }

function refused(reason: RegExp, remedy: object): object {
  return { kind: 'refused', reason: expect.stringMatching(reason), remedy }
}

describe('a change is applied as git itself would', () => {
  test('its files are in the work tree and the index, and nothing else is another', async () => {
    const { project, change } = makeApplyScene()
    expect(await applyChange(project, change)).toEqual(applied)
    expect(standing(project)).toEqual({ tree: change.tree, status: appliedStatus })
    expect(sh(project, 'cat a.txt more/1.txt; git fsck --strict 2>&1')).toBe('new\n1\n')
  })
  test('once more is no fault', async () => {
    const { project, change } = makeApplyScene()
    await applyChange(project, change)
    expect(await applyChange(project, change)).toEqual(applied)
  })

  const repositories: [name: string, make: string][] = [
    ['files that were only touched', `git ls-files | xargs touch -d @${longAgo}`],
    ['line ends of another system', 'git config core.autocrlf true; rm *.txt; git checkout .; touch a.txt b.txt'],
    ['a file system without execution bits', 'git config core.fileMode false; chmod 755 a.txt b.txt'],
    ['an index in two parts', 'git update-index --split-index; touch b.txt; git update-index --refresh'],
    ['a small index', 'git update-index --index-version 4'],
    ['a sparse work tree', 'git sparse-checkout set --cone --sparse-index more; ls'],
    ['an unpacked and a packed branch', 'git pack-refs --all; git gc -q'],
    ['a detached HEAD', 'git checkout -q --detach'],
    [
      'a file with a filter beside it, only touched',
      "echo 'b.txt filter=lfs' > .git/info/attributes; git config filter.lfs.clean 'tr b x'; touch b.txt",
    ],
    ['ignored and untracked files', 'mkdir ignored more; echo 1 > ignored/x; echo 1 > x.log; echo 1 > more/own'],
  ]
  test.each(repositories)('%s', async (_, make) => {
    const { project, change } = makeApplyScene()
    sh(project, make)
    expect(await applyChange(project, change)).toEqual(applied)
    expect(plainGit(project, 'write-tree')).toBe(change.tree)
    expect(sh(project, 'git -c filter.lfs.clean= diff-files --name-only; git fsck --strict 2>&1')).toBe('')
  })

  test('a linked work tree and a submodule', async () => {
    const { folder, project, change } = makeApplyScene()
    sh(
      folder,
      `git -C project worktree add -q --detach ../linked; git init -q super; cd super; git -c protocol.file.allow=always submodule --quiet add ${project} module`,
    )
    for (const place of ['linked', 'super/module']) {
      expect(await applyChange(join(folder, place), change)).toEqual(applied)
      expect(standing(join(folder, place))).toEqual({ tree: change.tree, status: appliedStatus })
    }
    expect(standing(project)).toEqual({ tree: plainGit(project, 'rev-parse', 'HEAD^{tree}'), status: '' })
  })

  const changes: [name: string, script: string, files?: Parameters<typeof makeApplyScene>[1]][] = [
    ['a folder in place of a file, and a file in place of a folder', 'rm a.txt; mkdir a.txt; echo 1 > a.txt/1; rm -r sub; echo 2 > sub'],
    ['links, modes and empty files', 'ln -s b.txt link; chmod 755 b.txt; : > empty; rm a.txt; ln -s b.txt a.txt'],
    [
      'bytes and names of any kind',
      String.raw`head -c 100000 /dev/urandom > bin; printf x > $'\xe9 "q"\n'; mv gone.txt 'a b'; printf x > -n`,
    ],
    ['another encoding', 'echo "*.u text working-tree-encoding=UTF-16LE eol=crlf" > .gitattributes; printf "h\\0i\\0\\r\\0\\n\\0" > x.u'],
    ['files that are ignored', 'mkdir ignored; echo 1 > ignored/x; echo 1 > x.log'],
  ]
  test.each(changes)('%s', async (_, script) => {
    const { project, change } = makeApplyScene(script)
    expect(await applyChange(project, change)).toEqual(applied)
    expect(plainGit(project, 'write-tree')).toBe(change.tree)
    expect(sh(project, 'git diff-files --name-only; git ls-files --others --exclude-standard')).toBe('')
  })
})

describe('no work that is not committed is lost', () => {
  const cases: [name: string, make: string, says: RegExp, remedy: object, change?: string][] = [
    ['a tracked file of the change', 'echo mine > a.txt', /uncommitted changes of tracked files: a\.txt$/, { do: 'commit' }],
    ['a tracked file beside it', 'echo mine > b.txt', /uncommitted changes of tracked files: b\.txt$/, { do: 'commit' }],
    ['a file that was removed', 'rm a.txt', /uncommitted changes of tracked files: a\.txt$/, { do: 'commit' }],
    ['something staged', 'echo mine > b.txt; git add b.txt; git show HEAD:b.txt > b.txt', /uncommitted .*: b\.txt/, { do: 'commit' }],
    [
      'an edit of the same size and time, right after git looked',
      `git config core.trustctime false; touch -d @${longAgo} a.txt; git update-index --refresh; echo mod > a.txt; touch -d @${longAgo} a.txt; touch -d @${longAgo} .git/index`,
      /uncommitted changes of tracked files: a\.txt$/,
      { do: 'commit' },
    ],
    [
      'a file git was told not to look at',
      'git update-index --assume-unchanged a.txt; echo mine > a.txt',
      /^git was told not to look at a\.txt,/,
      { do: 'unmark', assumedUnchanged: ['a.txt'], skipped: [] },
    ],
    [
      'a file git was told to pass over',
      'git update-index --skip-worktree a.txt; echo mine > a.txt',
      /^git was told not to look at a\.txt,/,
      { do: 'unmark', assumedUnchanged: [], skipped: ['a.txt'] },
    ],
    [
      'one with both marks',
      'git update-index --skip-worktree a.txt; git update-index --assume-unchanged a.txt; echo mine > a.txt',
      /^git was told not to look at a\.txt,/,
      { do: 'unmark', assumedUnchanged: ['a.txt'], skipped: ['a.txt'] },
    ],
    [
      'not one that only has a mark',
      'git update-index --assume-unchanged gone.txt; git update-index --skip-worktree a.txt; echo mine > a.txt',
      /^git was told not to look at a\.txt,/,
      { do: 'unmark', assumedUnchanged: [], skipped: ['a.txt'] },
    ],
    [
      'a file that is to be added',
      'echo mine > n.txt; git add -N n.txt',
      /uncommitted changes of tracked files: n\.txt$/,
      { do: 'commit' },
    ],
    ['a file staged and edited', 'echo 1 > b.txt; git add b.txt; echo 2 > b.txt', /tracked files: b\.txt$/, { do: 'commit' }],
    ['an untracked file', 'echo mine > 2.txt', /^2\.txt is in the way/, { do: 'move', path: '2.txt' }],
    ['an ignored file', 'echo mine > x.log', /^x\.log is in the way/, { do: 'move', path: 'x.log' }, 'echo 1 > x.log'],
    [
      'an ignored file where a folder comes',
      'echo mine > x.log',
      /^x\.log is in the way/,
      { do: 'move', path: 'x.log' },
      'mkdir x.log; echo 1 > x.log/1',
    ],
    [
      'an ignored file in a folder that goes',
      'echo mine > sub/x.log',
      /^sub is in the way/,
      { do: 'move', path: 'sub' },
      'rm -r sub; echo 1 > sub',
    ],
    ['a link where a folder comes', 'mkdir ../away; ln -s ../away more', /^more is in the way/, { do: 'move', path: 'more' }],
    [
      'a link in place of a folder',
      'mv sub ../away; ln -s ../away sub',
      /^sub is in the way/,
      { do: 'move', path: 'sub' },
      'echo 1 > sub/c.txt',
    ],
    ['an empty file of a name that comes', ': > 2.txt', /^2\.txt is in the way/, { do: 'move', path: '2.txt' }],
    [
      'an edit after the change was applied',
      'git apply --index "$PATCH"; echo mine > b.txt',
      /in the index already.*: b\.txt/,
      { do: 'look' },
    ],
    ['another HEAD', 'echo mine > b.txt; git commit -qam mine', /^HEAD is not [0-9a-f]{12}/, { do: 'three-way' }],
  ]
  test.each(cases)('%s', async (_, make, says, remedy, script) => {
    const { folder, project, change } = makeApplyScene(script)
    sh(project, make, { PATCH: change.patch })
    const before = everything(folder, project)
    expect(await applyChange(project, change)).toEqual(refused(says, remedy))
    expect(everything(folder, project)).toEqual(before)
  })
})

/** The files, links followed to where they lead, and the entries of the index. */
function everything(folder: string, project: string): string {
  return sh(
    folder,
    `cd ${project}; git ls-files --stage; find . ../away -path ./.git -prune -o -type f -exec sh -c 'echo "$1"; cat "$1"' sh {} \\; -o -type l -print 2>/dev/null || true`,
  )
}

describe('a file with a filter is left to git', () => {
  test('also where the person has none of that name: its bytes would be other ones', async () => {
    const { project, change } = makeApplyScene('echo "line 9" > f.txt', { 'f.txt': 'line 1\n', '.gitattributes': 'f.txt filter=up\n' })
    sh(
      project,
      "git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'; git add --renormalize .; git commit -qm up",
    )
    const next = makeChange(join(project, '..'), project, 'echo "LINE 9" > f.txt')
    expect(await applyChange(project, next)).toEqual(refused(/^f\.txt has a filter/, { do: 'apply' }))
    // By hand it goes, and git is content: what a raw write would not be.
    expect(sh(project, 'git apply --index "$PATCH"; cat f.txt; git status --porcelain', { PATCH: next.patch })).toBe('line 9\nM  f.txt\n')
    expect(change.tree).not.toBe(next.tree)
  })
})

describe('another repository is never written', () => {
  const cases: [name: string, make: string, says: RegExp][] = [
    ['a work tree named by the configuration', 'git config core.worktree ../victim', /names another work tree, \.\.\/victim/],
    ['a .git that points elsewhere', 'rm -rf .git; echo "gitdir: ../victim/.git" > .git', /which does not lead back/],
    ['a .git that is a link', 'rm -rf .git; ln -s ../victim/.git .git', /does not lead back/],
    ['an index that is a link', 'rm .git/index; ln -s ../../victim/.git/index .git/index', /index is no plain file/],
    ['objects and branches from elsewhere', 'echo ../../victim/.git > .git/commondir', /its parts lie in another repository/],
    ['objects behind a link', 'rm -rf .git/objects; ln -s ../../victim/.git/objects .git/objects', /objects is a link/],
    [
      'folders of objects behind links, into what is no repository',
      'for i in $(seq 0 255); do d=.git/objects/$(printf %02x $i); [ -e $d ] || ln -s ../../../victim $d; done',
      /objects\/[0-9a-f]{2} is a link/,
    ],
    ['packs behind a link', 'rm -rf .git/objects/pack; ln -s ../../../victim/.git/objects/pack .git/objects/pack', /pack is a link/],
    [
      'a forged linked work tree',
      'mkdir gd; cp .git/HEAD .git/index gd; rm -rf .git; echo "gitdir: gd" > .git; echo ../../victim/.git > gd/commondir; echo "$PWD/.git" > gd/gitdir',
      /which has no linked work tree/,
    ],
    [
      'a forged linked work tree in a folder of the right name',
      'mkdir -p r/worktrees/x; cp .git/HEAD .git/index r/worktrees/x; rm -rf .git; echo "gitdir: r/worktrees/x" > .git; echo ../../../../victim/.git > r/worktrees/x/commondir; echo "$PWD/.git" > r/worktrees/x/gitdir',
      /which has no linked work tree/,
    ],
    [
      'a linked work tree of a repository whose objects are a link',
      'mkdir -p gd/worktrees/x; cp .git/HEAD .git/index gd/worktrees/x; rm -rf .git; echo "gitdir: gd/worktrees/x" > .git; echo ../.. > gd/worktrees/x/commondir; ln -s ../../victim/.git/objects gd/objects; ln -s ../../victim/.git/refs gd/refs; echo "$PWD/.git" > gd/worktrees/x/gitdir',
      /objects is a link/,
    ],
  ]
  test.each(cases)('%s', async (_, make, says) => {
    const { folder, project, change } = makeApplyScene()
    sh(folder, 'cp -a project victim; git -C victim update-index -q --refresh')
    const print = () => sh(folder, 'find victim -type f -exec sha256sum {} + | sort; find victim -exec stat -c "%n %s %Y" {} + | sort')
    const before = print()
    sh(project, make)
    expect(await applyChange(project, change)).toEqual(refused(says, { do: 'apply' }))
    expect(print()).toBe(before)
    expect(sh(project, 'cat a.txt')).toBe('old\n')
  })
})

describe('ended in between, it goes on', () => {
  /** As `git read-tree -u` leaves it: some files done, one emptied, the index as it was. */
  const half = 'echo new > a.txt; rm gone.txt; mkdir more; : > more/1.txt'
  test('with what is done, empty or gone taken for what it is', async () => {
    const { project, change } = makeApplyScene()
    sh(project, half)
    expect(await applyChange(project, change)).toEqual(applied)
    expect(standing(project)).toEqual({ tree: change.tree, status: appliedStatus })
  })
  test('after the lock of the killed git is gone, which only a person can say', async () => {
    const { project, change } = makeApplyScene()
    const lock = join(project, '.git/index.lock')
    sh(project, `${half}; : > ${lock}`)
    const says = /^an earlier --apply was ended in between \(2 of 4 files .*index\.lock is there/
    expect(await applyChange(project, change)).toEqual(refused(says, { do: 'unlock', file: lock }))
    rmSync(lock)
    expect(await applyChange(project, change)).toEqual(applied)
  })
  test('but not over a file that is neither as before nor as after', async () => {
    const { project, change } = makeApplyScene('echo new > a.txt; echo new > b.txt; echo new > sub/c.txt')
    sh(project, 'echo new > a.txt; echo mine > b.txt')
    const result = await applyChange(project, change)
    expect(result).toEqual(refused(/\(1 of 3 files .*neither as before nor as after: b\.txt/, { do: 'restore', paths: ['b.txt'] }))
    expect(sh(project, 'cat a.txt b.txt sub/c.txt')).toBe('new\nmine\nc\n')
    sh(project, 'git checkout HEAD -- b.txt')
    expect(await applyChange(project, change)).toEqual(applied)
    expect(plainGit(project, 'write-tree')).toBe(change.tree)
  })
  test('a file with a filter beside it keeps its edit', async () => {
    const { project, change } = makeApplyScene()
    sh(project, `${half}; echo 'b.txt filter=lfs' > .git/info/attributes; git config filter.lfs.clean 'tr b x'; echo mine > b.txt`)
    expect(await applyChange(project, change)).toEqual(applied)
    expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('mine\n')
  })
  const kills: [name: string, withGit: boolean][] = [
    ['the program alone is killed', false],
    ['git is killed with it', true],
  ]
  test.each(kills)('%s', { timeout: 120_000 }, async (_, withGit) => {
    const many = 'for i in $(seq 700); do echo "new $i" > many/$i; done'
    const { project, change } = makeApplyScene(many, {
      ...baseFiles,
      ...Object.fromEntries(range(700).map(i => [`many/${i}`, `old ${i}\n`])),
    })
    await killBetween(project, change, withGit)
    const lock = join(project, '.git/index.lock')
    if (withGit) {
      const done = readFileSync(join(project, 'many/1'), 'utf8')
      expect([done, existsSync(lock)]).toEqual(['new 1\n', true])
      expect(await applyChange(project, change)).toEqual(refused(/ended in between .*index\.lock is there/, { do: 'unlock', file: lock }))
      rmSync(lock)
    } else while (existsSync(lock)) await new Promise(resolve => setTimeout(resolve, 50))
    expect(await applyChange(project, change)).toEqual(applied)
    expect(plainGit(project, 'write-tree')).toBe(change.tree)
    expect(sh(project, 'git diff-files --name-only')).toBe('')
  })
})

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1)
}

/** Starts applying in a process of its own and kills it when the first file is written. */
async function killBetween(project: string, change: ProvenChange, withGit: boolean): Promise<void> {
  const module = pathToFileURL(join(import.meta.dirname, '../../git/index.ts')).href
  const script = `import { applyChange } from ${JSON.stringify(module)}; await applyChange(${JSON.stringify(project)}, ${JSON.stringify(change)})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
  const ended = new Promise(resolve => child.on('exit', resolve))
  const file = join(project, 'many/1')
  // Git takes the old file away first. Reading must not make one in that moment: git would find it and give up.
  while (child.exitCode === null && !textOf(file).startsWith('new')) await new Promise(resolve => setImmediate(resolve))
  const gits = childrenOf(child)
  child.kill('SIGKILL')
  if (withGit) for (const pid of gits) process.kill(pid, 'SIGKILL')
  await ended
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function childrenOf(child: ChildProcess): number[] {
  return readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}
