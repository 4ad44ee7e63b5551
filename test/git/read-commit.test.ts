import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCommit } from '../../git/index.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-read-commit-'))
const repository = path.join(folder, 'repository')
const trace = path.join(folder, 'trace')
let made: { sha: string; tree: string; parent: string }
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const who = ['-c', 'user.name=Mona', '-c', 'user.email=mona@example.com']
/** Git as a person runs it: with the repository's own settings. */
async function git(cwd: string, ...argv: string[]): Promise<string> {
  const { stdout } = await execa('git', [...who, ...argv], { cwd, reject: false })
  return stdout.trim()
}

beforeAll(async () => {
  mkdirSync(repository)
  await git(repository, 'init', '-q', '-b', 'main')
  for (const text of ['one', 'two']) {
    writeFileSync(path.join(repository, 'a.txt'), text)
    await git(repository, 'add', '.')
    await git(repository, 'commit', '-q', '-m', text)
  }
  const [sha = '', tree = '', parent = ''] = (await git(repository, 'log', '-1', '--format=%H %T %P')).split(' ')
  made = { sha, tree, parent }
})

/** A clone of it, by the name of its folder. */
async function clone(name: string, ...options: string[]): Promise<string> {
  await git(folder, 'clone', '-q', ...options, repository, name)
  return path.join(folder, name)
}

describe('a commit is read from', () => {
  it.each<[string, () => string | Promise<string>]>([
    ['a work tree', () => repository],
    ['its gitdir', () => path.join(repository, '.git')],
    ['a bare clone', () => clone('bare.git', '--bare')],
    ['packed objects', () => clone('packed', '--no-local')],
    ['a clone that borrows its objects', () => clone('shared', '--shared')],
    ['a folder with an odd name', () => clone('a:b "c"\n')],
    ['a linked work tree', () => git(repository, 'worktree', 'add', '-q', '--detach', '../linked').then(() => path.join(folder, 'linked'))],
  ])('%s', async (_, make) => {
    expect(await readCommit(await make(), made.sha)).toEqual({ kind: 'found', tree: made.tree, parents: [made.parent] })
  })
  it('a root commit, which has no parent', async () => {
    expect(await readCommit(repository, made.parent)).toMatchObject({ kind: 'found', parents: [] })
  })
})

describe('no commit is read', () => {
  it('that the repository does not have', async () => {
    expect(await readCommit(repository, 'f'.repeat(40))).toEqual({ kind: 'absent' })
  })
  it('under the name of a tree', async () => {
    expect(await readCommit(repository, made.tree)).toEqual({ kind: 'absent' })
  })
  it('that lies under another’s name', async () => {
    const swapped = await clone('swapped')
    const objects = path.join(swapped, '.git', 'objects')
    const other = 'b'.repeat(40)
    mkdirSync(path.join(objects, 'bb'), { recursive: true })
    copyFileSync(
      path.join(repository, '.git', 'objects', made.sha.slice(0, 2), made.sha.slice(2)),
      path.join(objects, 'bb', other.slice(2)),
    )
    expect(await readCommit(swapped, other)).toEqual({ kind: 'absent' })
  })
  it('by way of a replacement', async () => {
    await git(repository, 'replace', made.sha, made.parent)
    try {
      expect(await git(repository, 'cat-file', '-p', made.sha)).not.toContain(made.parent)
      expect(await readCommit(repository, made.sha)).toMatchObject({ kind: 'found', parents: [made.parent] })
    } finally {
      await git(repository, 'replace', '-d', made.sha)
    }
  })
  it.each<[string, () => string]>([
    ['a folder without a repository', () => folder],
    ['a folder that is not there', () => path.join(folder, 'nowhere')],
    ['a file', () => path.join(repository, 'a.txt')],
    ['a .git file that points nowhere', () => dotGit('gitdir: /nowhere\n')],
    ['a .git file without a pointer', () => dotGit('hello\n')],
    ['a .git file of any size', () => dotGit(`gitdir: ${'a'.repeat(10_000)}`)],
  ])('in %s, and that is said', async (_, make) => {
    expect(await readCommit(make(), made.sha)).toMatchObject({ kind: 'no-repository' })
  })
})

function dotGit(content: string): string {
  const place = mkdtempSync(path.join(folder, 'pointer-'))
  writeFileSync(path.join(place, '.git'), content)
  return place
}

describe('nothing of the repository is run', () => {
  it('not its settings, hooks or remotes, where git itself runs them', async () => {
    const script = path.join(folder, 'script.sh')
    writeFileSync(script, `#!/bin/sh\ntouch ${trace}\n`)
    chmodSync(script, 0o755)
    const hostile = await clone('hostile')
    const config = [
      `[core]\n\tfsmonitor = ${script}\n\thooksPath = ${folder}\n\tpager = ${script}\n\tsshCommand = ${script}\n\tgitProxy = ${script}`,
      '\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil',
      `[remote "evil"]\n\turl = ext::${script}\n\tpromisor = true`,
      `[protocol "ext"]\n\tallow = always\n[alias]\n\tcat-file = !${script}\n[gpg]\n\tprogram = ${script}\n[diff]\n\texternal = ${script}`,
    ]
    writeFileSync(path.join(hostile, '.git', 'config'), `${config.join('\n')}\n`)
    // Git as a person runs it asks the remote for an object that is missing, and so runs the script.
    await git(hostile, 'cat-file', 'commit', 'f'.repeat(40))
    expect(existsSync(trace)).toBe(true)
    rmSync(trace)
    expect(await readCommit(hostile, 'f'.repeat(40))).toEqual({ kind: 'absent' })
    expect(await readCommit(hostile, made.sha)).toMatchObject({ kind: 'found' })
    expect(existsSync(trace)).toBe(false)
  })
  it('and nothing is left behind or written into it', async () => {
    const before = readdirSync(path.join(repository, '.git'), { recursive: true }).sort()
    const scratches = () =>
      readdirSync(tmpdir()).filter(name => name.startsWith('grokbot-read-') && !name.startsWith('grokbot-read-commit-'))
    const left = scratches()
    await readCommit(repository, made.sha)
    expect(readdirSync(path.join(repository, '.git'), { recursive: true }).sort()).toEqual(before)
    expect(scratches()).toEqual(left)
  })
})
