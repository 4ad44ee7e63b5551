import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { bareConfig, writeRepository } from './bare-repository.ts'
import { findRepository } from './find-repository.ts'
import { gitLimits } from './limits.ts'
import { checkSha } from './ref-name.ts'
import { runGit } from './run-git.ts'
import { makeScratchFolder } from './scratch-folder.ts'

export type CommitRead =
  | { kind: 'found'; tree: string; parents: string[] }
  /** The repository does not have this commit, or what it has under its name is another one. */
  | { kind: 'absent' }
  | { kind: 'no-repository'; message: string }

/**
 * Reads one commit of any folder a person names, work tree or bare. Nothing of that repository but its objects is given
 * to git: not its config, refs, hooks, attributes or index. The commit's bytes are hashed here, so an object that lies
 * under another's name is not taken for it.
 */
export async function readCommit(folder: string, sha: string): Promise<CommitRead> {
  const found = findRepository(resolve(folder))
  if (found === null) return { kind: 'no-repository', message: `${folder} is no git repository` }
  const scratch = makeScratchFolder()
  try {
    writeRepository(scratch, { head: 'ref: refs/heads/none', config: bareConfig, alternates: [], objects: true })
    const { exitCode, stdout } = await runGit({
      gitDir: scratch,
      argv: ['cat-file', 'commit', checkSha(sha)],
      env: { GIT_OBJECT_DIRECTORY: found.objects },
      stdoutBytesMax: gitLimits.commitBytesMax,
      wallMs: gitLimits.commitWallMs,
    })
    if (exitCode !== 0 || hashObject('commit', stdout) !== sha) return { kind: 'absent' }
    return parseCommit(stdout)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
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
