import { movePlace } from './anchor.ts'
import { mergeBase, readPullFiles } from './pull-facts.ts'
import { runGit } from './repository-git.ts'
import type { Issue, Pull, Repository } from './state.ts'

/** After a push: each comment is looked for in the new diff, from where it was made; what is not found again is outdated. */
export async function moveReviewComments(repository: Repository, issue: Issue, pull: Pull): Promise<void> {
  const comments = [...repository.reviewComments.values()].filter(each => each.issueNumber === issue.number)
  if (comments.length === 0) return
  const files = await readPullFiles(repository, pull)
  const { sha } = pull.head
  for (const comment of comments) {
    const { original, originalCommitSha, path } = comment
    const [from, to] =
      original.side === 'RIGHT'
        ? [originalCommitSha, sha]
        : await Promise.all([mergeBase(repository, pull, originalCommitSha), mergeBase(repository, pull, sha)])
    comment.place = movePlace(files, comment, original, await lineAfter(repository.folder, { from, to, path, line: original.line }))
    if (comment.place) comment.commitSha = sha
  }
}

/** Where a line of the old file is in the new one; null when it was changed. */
async function lineAfter(folder: string, at: { from: string; to: string; path: string; line: number }): Promise<number | null> {
  if (at.from === at.to) return at.line
  const { stdout } = await runGit(folder, ['diff', '-U0', at.from, at.to, '--', `:(literal)${at.path}`])
  let shift = 0
  for (const [, start, removed = '1', , added = '1'] of stdout.toString().matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)) {
    const [first, gone, come] = [Number(start), Number(removed), Number(added)]
    // A hunk that removes nothing names the line it follows.
    if (gone === 0 ? at.line <= first : at.line < first) break
    if (gone > 0 && at.line < first + gone) return null
    shift += come - gone
  }
  return at.line + shift
}
