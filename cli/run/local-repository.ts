import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'

/** A person's own repository, as `grokbot run` finds it. Nothing in it is written. */
export type LocalRepository = {
  /** The top of the work tree, absolute, without symlinks. */
  root: string
  /** The branch that is checked out; `HEAD` when none is. */
  branch: string
  base: { sha: string; ref: string }
  /** Counts the tracked and untracked paths that differ from HEAD and so are not used. */
  uncommitted(): Promise<number>
}

const gitWallMs = 60_000
const outputBytesMax = 64 * 1024 * 1024

/**
 * Reads where a run starts from. Git runs here in the repository's own configuration, so everything of it that could
 * start a program is switched off: the folder may have come out of an archive. Throws `UsageError` for what is not usable.
 */
export async function readLocalRepository(folder: string, baseRef: string | null): Promise<LocalRepository> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`there is no folder ${escapeText(folder)}`, ['name the repository: --repo DIR'])
  const plain = baseRef === null ? await readPlain(folder) : null
  const { root, branch, base } = plain ?? (await readNamed(folder, baseRef))
  return { root, branch, base, uncommitted: () => countUncommitted(root) }
}

type Start = Pick<LocalRepository, 'root' | 'branch' | 'base'>

/** The usual case, in one start of git: HEAD is a branch with a commit. Null: ask in single steps, which can say what is wrong. */
async function readPlain(folder: string): Promise<Start | null> {
  const answer = await ask(folder, ['rev-parse', '--show-toplevel', 'HEAD^{commit}', '--symbolic-full-name', 'HEAD'])
  const lines = answer?.split('\n') ?? []
  const [sha = '', ref = ''] = lines.slice(-2)
  // A folder's name may hold line ends, a commit and a branch never do.
  const top = lines.slice(0, -2).join('\n')
  if (top === '' || !/^[0-9a-f]{40}$/.test(sha) || !ref.startsWith('refs/heads/')) return null
  const branch = ref.slice('refs/heads/'.length)
  return { root: realpathSync(top), branch, base: { sha, ref: branch } }
}

async function readNamed(folder: string, baseRef: string | null): Promise<Start> {
  const top = await ask(folder, ['rev-parse', '--show-toplevel'])
  if (top === null)
    throw new UsageError(`${escapeText(folder)} is not the work tree of a git repository`, [
      'name one: --repo DIR; or make one: git init && git add -A && git commit',
    ])
  const root = realpathSync(top)
  const [branch, base] = await Promise.all([ask(root, ['symbolic-ref', '--short', '-q', 'HEAD']), readBase(root, baseRef)])
  return { root, branch: branch ?? 'HEAD', base }
}

async function readBase(root: string, baseRef: string | null): Promise<LocalRepository['base']> {
  const wanted = baseRef ?? 'HEAD'
  if (wanted.startsWith('-'))
    throw new UsageError(`${escapeText(wanted)} is no name of a commit`, ['name a branch, a tag or a commit: --base REF'])
  const [sha, named] = await Promise.all([
    ask(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${wanted}^{commit}`]),
    ask(root, ['rev-parse', '--symbolic-full-name', wanted]),
  ])
  if (sha === null) {
    if (baseRef !== null)
      throw new UsageError(`there is no commit ${escapeText(baseRef)} in ${escapeText(root)}`, [
        'see what there is: git branch -a; git tag',
      ])
    throw new UsageError(`${escapeText(root)} has no commit yet, so there is nothing to start from`, ['make one: git add -A && git commit'])
  }
  const full = named !== null && /^refs\/(?:heads|tags|remotes)\//.test(named) ? named : null
  if (full !== null) return { sha, ref: full.startsWith('refs/heads/') ? full.slice('refs/heads/'.length) : full }
  const holders = await ask(root, [
    'for-each-ref',
    '--count=1',
    '--format=%(refname)',
    `--contains=${sha}`,
    'refs/heads',
    'refs/tags',
    'refs/remotes',
  ])
  if (holders === null || holders === '')
    throw new UsageError(`the commit ${sha.slice(0, 12)} is on no branch, so it can not be fetched`, ['give it a name: git branch NAME'])
  return { sha, ref: holders.startsWith('refs/heads/') ? holders.slice('refs/heads/'.length) : holders }
}

/**
 * Paths that differ from HEAD. Git is asked only for what it can tell without reading a file through a filter: a filter is
 * a program the repository's configuration may name. Where times differ, the bytes themselves are compared.
 */
async function countUncommitted(root: string): Promise<number> {
  const [staged, touched, untracked] = await Promise.all([
    ask(root, ['diff-index', '--cached', '--name-only', '-z', '--no-ext-diff', '--ignore-submodules', 'HEAD', '--']),
    ask(root, ['diff-files', '--raw', '--no-abbrev', '-z', '--no-ext-diff', '--ignore-submodules', '--']),
    ask(root, ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ':(exclude,top).grok/out']),
  ])
  const changed = await keepChanged(root, readRaw(touched ?? ''))
  return new Set([...names(staged), ...changed, ...names(untracked)]).size
}

function names(list: string | null): string[] {
  return (list ?? '').split('\0').filter(name => name !== '')
}

type Touched = { path: string; blob: string; regular: boolean }

/** `:100644 100644 <blob> 0000000 M`, NUL, path, NUL. */
function readRaw(raw: string): Touched[] {
  const parts = names(raw)
  return parts.flatMap((head, index) => {
    if (index % 2 === 1) return []
    const [was = '', is = '', blob = ''] = head.split(' ')
    // A link would be followed, so only a file that was one and still is gets read.
    return [{ path: parts[index + 1] ?? '', blob, regular: was.startsWith(':100') && is.startsWith('100') }]
  })
}

/** Above this many, times are taken for changes: it is a count for people. */
const comparedMax = 2_000

async function keepChanged(root: string, touched: readonly Touched[]): Promise<string[]> {
  const comparable = touched.filter(({ path: name, regular }) => regular && !name.includes('\n'))
  if (comparable.length === 0 || comparable.length > comparedMax) return touched.map(({ path: name }) => name)
  const input = comparable.map(({ path: name }) => `${name}\n`).join('')
  const hashed = await runGit(root, ['hash-object', '--no-filters', '--stdin-paths'], false, input)
  const blobs = hashed.stdout.split('\n')
  const same = new Set(comparable.filter(({ blob }, index) => hashed.exitCode === 0 && blobs[index] === blob).map(({ path: name }) => name))
  return touched.map(({ path: name }) => name).filter(name => !same.has(name))
}

/** A file of a commit as text; null when it is not there. */
export async function readCommitted(root: string, sha: string, file: string): Promise<string | null> {
  return await ask(root, ['cat-file', 'blob', `${sha}:${file}`])
}

export type ApplyResult = { kind: 'applied' } | { kind: 'not-applied'; reason: string; next: string }

/**
 * `git apply --index` in the person's own repository, at their request: only on a tree without tracked changes, whose
 * HEAD is still the commit the change was made on. It applies all of it or nothing.
 */
export async function applyPatch({ root, base }: { root: string; base: string }, patchFile: string): Promise<ApplyResult> {
  const next = `git apply --index ${shellWord(path.relative(root, patchFile))}`
  const head = await ask(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  if (head !== base)
    return {
      kind: 'not-applied',
      reason: `HEAD is not ${base.slice(0, 12)}, the commit the change was made on`,
      next: `git apply --3way --index ${shellWord(path.relative(root, patchFile))}`,
    }
  const tracked = await ask(root, ['status', '--porcelain=v1', '-z', '--untracked-files=no', '--ignore-submodules'])
  if (tracked !== '')
    return { kind: 'not-applied', reason: 'there are uncommitted changes of tracked files', next: `commit or stash them, then: ${next}` }
  const applied = await runGit(root, ['apply', '--index', '--whitespace=nowarn', '--', patchFile], true)
  if (applied.exitCode === 0) return { kind: 'applied' }
  return { kind: 'not-applied', reason: `git apply: ${firstLine(applied.stderr)}`, next }
}

/** For lines a person copies into a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** What git printed, without the last line end; null when it ended otherwise than with 0. */
async function ask(root: string, argv: readonly string[]): Promise<string | null> {
  const result = await runGit(root, argv, false)
  return result.exitCode === 0 ? result.stdout.replace(/\n$/, '') : null
}

const programsOff = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.pager=cat', 'diff.external=', 'core.askPass=false']
/** Reading may look at a folder of another user, since nothing of it can start; writing keeps git's own refusal. */
const readSettings = [...programsOff, 'safe.directory=*']
/** A caller that is itself started by git (a hook) would otherwise name another repository. */
const inherited = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR', 'GIT_NAMESPACE', 'GIT_PREFIX']
const readEnvironment = { GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

async function runGit(root: string, argv: readonly string[], writes: boolean, input?: string) {
  const settings = writes ? programsOff : readSettings
  const result = await execa('git', [...settings.flatMap(setting => ['-c', setting]), ...argv], {
    cwd: root,
    env: {
      ...Object.fromEntries(inherited.map(name => [name, undefined])),
      ...{ LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat', ...(writes ? {} : readEnvironment) },
    },
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    timeout: gitWallMs,
    maxBuffer: outputBytesMax,
    reject: false,
    stripFinalNewline: false,
  })
  if (result.exitCode === undefined && result.code === 'ENOENT')
    throw new UsageError('git is not installed', ['install it: apt-get install git'])
  return { exitCode: result.exitCode ?? null, stdout: String(result.stdout ?? ''), stderr: String(result.stderr ?? '') }
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find(line => line.trim() !== '')
      ?.trim() ?? 'no message'
  )
}
