import { randomBytes } from 'node:crypto'
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git, readRef, resolveCommit, runGit } from './repository-git.ts'

/** Commits the fake makes itself always carry this date, so that the same files give the same SHA in every run. */
const seedDate = '2024-01-01T00:00:00Z'

/**
 * Makes the bare repository: from a folder of files, from a work tree with a `.git` folder, from a bare repository, or
 * with one README. `empty` leaves it without any commit.
 */
export async function seedRepository(
  folder: string,
  options: { from?: string | undefined; defaultBranch?: string | undefined; empty?: boolean | undefined },
): Promise<{ defaultBranch: string }> {
  await mkdir(join(folder, '..'), { recursive: true })
  const source = options.from === undefined ? null : await findGitDir(options.from)
  if (source) return { defaultBranch: await copyRepository(source, folder, options.defaultBranch) }
  const branch = options.defaultBranch ?? 'main'
  await mkdir(join(folder, 'objects'), { recursive: true })
  await mkdir(join(folder, 'refs'))
  await writeFile(join(folder, 'HEAD'), `ref: refs/heads/${branch}\n`)
  await writeConfig(folder)
  if (options.empty) return { defaultBranch: branch }
  if (options.from === undefined)
    await commitFiles(folder, { branch, files: { 'README.md': '# A repository\n' }, message: 'Initial commit' })
  else await commitFolder(folder, options.from, branch)
  return { defaultBranch: branch }
}

/** A bare repository or a work tree's `.git`; null for a plain folder of files. */
async function findGitDir(from: string): Promise<string | null> {
  const names = await readdir(from)
  if (names.includes('HEAD') && names.includes('objects') && names.includes('refs')) return from
  const dotGit = join(from, '.git')
  if (names.includes('.git') && (await stat(dotGit)).isDirectory()) return dotGit
  return null
}

async function copyRepository(source: string, folder: string, wanted: string | undefined): Promise<string> {
  await mkdir(folder)
  // Only objects and refs come over: hooks and configuration of the source must not run in the fake.
  for (const name of ['objects', 'refs', 'packed-refs', 'HEAD', 'shallow']) {
    if (await exists(join(source, name))) await cp(join(source, name), join(folder, name), { recursive: true })
  }
  await writeConfig(folder)
  const named = await runGit(folder, ['symbolic-ref', '--quiet', 'HEAD'])
  const branch =
    wanted ??
    (named.stdout
      .toString()
      .trim()
      .replace(/^refs\/heads\//, '') ||
      'main')
  const tip = await resolveCommit(folder, 'HEAD')
  // A source on a detached head, or without the branch that was asked for, starts it where it stands.
  if (tip && !(await readRef(folder, `refs/heads/${branch}`))) await git(folder, ['update-ref', `refs/heads/${branch}`, tip])
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  return branch
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function writeConfig(folder: string): Promise<void> {
  const lines = [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tbare = true',
    '[http]',
    '\treceivepack = true',
    // A fetch by SHA works on GitHub, and pull request refs belong to GitHub alone.
    '[uploadpack]',
    '\tallowAnySHA1InWant = true',
    '\tallowFilter = true',
    '[receive]',
    '\thideRefs = refs/pull',
    // The update hook refuses it itself, in GitHub's words.
    '\tdenyDeleteCurrent = ignore',
    '\tadvertisePushOptions = true',
    '\tfsckObjects = true',
    '[transfer]',
    '\tfsckObjects = true',
    '[gc]',
    '\tauto = 0',
    '',
  ]
  return writeFile(join(folder, 'config'), lines.join('\n'))
}

async function commitFolder(folder: string, from: string, branch: string): Promise<void> {
  const index = join(folder, `index-${randomBytes(6).toString('hex')}`)
  const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: from, GIT_DIR: folder }
  await git(folder, ['-c', 'core.bare=false', '-C', from, 'add', '--all', '--force', '.'], { env })
  const tree = await git(folder, ['write-tree'], { env })
  const dates = { GIT_AUTHOR_DATE: seedDate, GIT_COMMITTER_DATE: seedDate }
  const sha = await git(folder, ['commit-tree', tree, '-m', 'Initial commit'], { env: dates })
  await git(folder, ['update-ref', `refs/heads/${branch}`, sha])
  await rm(index, { force: true })
}

export type FileChanges = Record<string, string | Buffer | { content: string | Buffer; mode: '100644' | '100755' | '120000' } | null>

/** Adds a commit to a branch as a person on the server would; null deletes a file. Answers the commit's SHA. */
export async function commitFiles(
  folder: string,
  change: { branch: string; files: FileChanges; message: string; from?: string | undefined; date?: string | undefined },
): Promise<string> {
  const ref = `refs/heads/${change.branch}`
  const parent = change.from ?? (await readRef(folder, ref))
  const seconds = Date.parse(change.date ?? seedDate) / 1000
  const parts: (string | Buffer)[] = [
    `commit ${ref}\ncommitter Simulator <simulator@users.noreply.localhost> ${seconds} +0000\n`,
    ...dataOf(change.message),
    // A branch that is there and is not named as the start would be continued; this one is put where it was asked.
    ...(parent ? [`from ${parent}\n`] : []),
  ]
  for (const [path, file] of Object.entries(change.files)) {
    const name = JSON.stringify(path)
    if (file === null) {
      parts.push(`D ${name}\n`)
      continue
    }
    const { content, mode } = typeof file === 'string' || Buffer.isBuffer(file) ? { content: file, mode: '100644' } : file
    parts.push(`M ${mode} inline ${name}\n`, ...dataOf(content))
  }
  const input = Buffer.concat(parts.map(part => Buffer.from(part)))
  await git(folder, ['fast-import', '--quiet', '--force'], { input })
  return git(folder, ['rev-parse', '--verify', ref])
}

function dataOf(content: string | Buffer): (string | Buffer)[] {
  const bytes = Buffer.from(content)
  return [`data ${bytes.length}\n`, bytes, '\n']
}
