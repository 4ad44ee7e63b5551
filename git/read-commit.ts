import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bareConfig, writeRepository } from './bare-repository.ts'
import { checkSha } from './ref-name.ts'
import { runGit } from './run-git.ts'

export type CommitRead =
  | { kind: 'found'; tree: string; parents: string[] }
  /** The repository does not have this commit, or what it has under its name is another one. */
  | { kind: 'absent' }
  | { kind: 'no-repository'; message: string }

/** Of a person's own repository, read by `verify`: a commit is one small object. */
const readWallMs = 60_000
const commitBytesMax = 4_194_304
const pointerBytesMax = 4_096

/**
 * Reads one commit of any folder a person names, work tree or bare. Nothing of that repository but its objects is given
 * to git: not its config, refs, hooks, attributes or index. The commit's bytes are hashed here, so an object that lies
 * under another's name is not taken for it.
 */
export async function readCommit(folder: string, sha: string): Promise<CommitRead> {
  const objects = findObjects(resolve(folder))
  if (objects === null) return { kind: 'no-repository', message: `${folder} is no git repository` }
  const scratch = mkdtempSync(join(tmpdir(), 'grokbot-read-'))
  try {
    writeRepository(scratch, { head: 'ref: refs/heads/none', config: bareConfig, alternates: [], objects: true })
    const { exitCode, stdout } = await runGit({
      gitDir: scratch,
      argv: ['cat-file', 'commit', checkSha(sha)],
      env: { GIT_OBJECT_DIRECTORY: objects },
      stdoutBytesMax: commitBytesMax,
      wallMs: readWallMs,
    })
    if (exitCode !== 0 || hashObject('commit', stdout) !== sha) return { kind: 'absent' }
    return parseCommit(stdout)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The folder with the objects, found by reading files only. A linked work tree and a submodule point to it in two steps. */
function findObjects(folder: string): string | null {
  const dotGit = join(folder, '.git')
  const gitDir = isFolder(dotGit) ? dotGit : (readPointer(dotGit, folder, 'gitdir: ') ?? folder)
  const shared = readPointer(join(gitDir, 'commondir'), gitDir, '') ?? gitDir
  return isFile(join(gitDir, 'HEAD')) && isFolder(join(shared, 'objects')) ? join(shared, 'objects') : null
}

function readPointer(file: string, base: string, before: string): string | null {
  if (!isFile(file) || statSync(file).size > pointerBytesMax) return null
  const text = readFileSync(file, 'utf8').trimEnd()
  return text.startsWith(before) && text.length > before.length ? resolve(base, text.slice(before.length)) : null
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function hashObject(type: string, content: Uint8Array): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

/** Header lines end at the first empty one; `tree` comes first, then the parents. */
function parseCommit(content: Buffer): CommitRead {
  const lines = content.toString('latin1').split('\n\n', 1).join('').split('\n')
  const tree = lines[0]?.startsWith('tree ') ? lines[0].slice(5) : ''
  const parents = lines.filter(line => line.startsWith('parent ')).map(line => line.slice(7))
  return { kind: 'found', tree, parents }
}
