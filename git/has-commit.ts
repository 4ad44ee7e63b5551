import type { Mirror } from './git.ts'
import { checkSha } from './ref-name.ts'
import { runGit } from './run-git.ts'

/** Whether the mirror has this commit, reached or not. */
export async function hasCommit(mirror: Mirror, sha: string): Promise<boolean> {
  const result = await runGit({ gitDir: mirror.path, argv: ['cat-file', '-e', `${checkSha(sha)}^{commit}`], wallMs: mirror.wallMs })
  return result.exitCode === 0
}
