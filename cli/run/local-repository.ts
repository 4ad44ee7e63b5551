import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { listUncommitted, refreshIndex } from '../../git/index.ts'
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

async function countUncommitted(root: string): Promise<number> {
  const head = await ask(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  const { staged, changed, untracked } = (head && (await listUncommitted(root, head))) || { staged: [], changed: [], untracked: [] }
  return new Set([...staged, ...changed, ...untracked]).size
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
  const found = await listUncommitted(root, base)
  if (found === null) return { kind: 'not-applied', reason: 'whether tracked files are changed could not be found out in time', next }
  if (found.staged.length > 0 || found.changed.length > 0)
    return { kind: 'not-applied', reason: 'there are uncommitted changes of tracked files', next: `commit or stash them, then: ${next}` }
  // A file that was only touched would be taken for another one. What is somebody else's, git itself refuses to write.
  if (statSync(root).uid === process.getuid?.()) await refreshIndex(root)
  const filters = await filtersOff(root)
  const applied = await runGit(root, ['apply', '--index', '--whitespace=nowarn', '--', patchFile], filters)
  if (applied.exitCode === 0) return { kind: 'applied' }
  return { kind: 'not-applied', reason: `git apply: ${firstLine(applied.stderr)}`, next }
}

/** For lines a person copies into a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** What git printed, without the last line end; null when it ended otherwise than with 0. */
async function ask(root: string, argv: readonly string[]): Promise<string | null> {
  const result = await runGit(root, argv, null)
  return result.exitCode === 0 ? result.stdout.replace(/\n$/, '') : null
}

/** Empty commands in place of those the repository's configuration names: git would start them for files it patches. */
async function filtersOff(root: string): Promise<Record<string, string>> {
  const keys = (await ask(root, ['config', '--null', '--name-only', '--get-regexp', '^filter\\.']))?.split('\0').filter(Boolean) ?? []
  const off = keys.map(key => [key, key.endsWith('.required') ? 'false' : ''] as const)
  return {
    GIT_CONFIG_COUNT: String(off.length),
    ...Object.fromEntries(
      off.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

const programsOff = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.pager=cat', 'diff.external=', 'core.askPass=false']
/** Reading may look at a folder of another user, since nothing of it can start; writing keeps git's own refusal. */
const readSettings = [...programsOff, 'safe.directory=*']
/** A caller that is itself started by git (a hook) would otherwise name another repository. */
const inherited = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR', 'GIT_NAMESPACE', 'GIT_PREFIX']
const readEnvironment = { GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

/** `writing`: more of its environment, for a call that changes the repository; null for one that only reads. */
async function runGit(root: string, argv: readonly string[], writing: Record<string, string> | null) {
  const settings = writing ? programsOff : readSettings
  const result = await execa('git', [...settings.flatMap(setting => ['-c', setting]), ...argv], {
    cwd: root,
    env: {
      ...Object.fromEntries(inherited.map(name => [name, undefined])),
      ...{ LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat', ...(writing ?? readEnvironment) },
    },
    stdin: 'ignore',
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
