import { type Answer, invalid } from '../answer.ts'
import { readCommits } from '../commit-facts.ts'
import { paginate } from '../paginate.ts'
import { listPullCommits, mergeBase, readPullFiles } from '../pull-facts.ts'
import { renderFile, renderListedCommit } from '../render/commit.ts'
import { runGit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'

const one = '/repos/{owner}/{repo}/pulls/{pull_number}'
/** GitHub lists no more files, and no more commits, of a pull request. */
const filesMax = 3000
const commitsMax = 250
/** GitHub makes no diff of more files, or of more lines. */
const diffFilesMax = 300
const diffLinesMax = 20_000

export const pullDiffRoutes = [
  route({
    method: 'GET',
    path: `${one}/files`,
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: async call => {
      const files = await readPullFiles(call.repository, call.pull)
      return paginate(call, files.slice(0, filesMax), page => page.map(file => renderFile(call, file, call.pull.head.sha)))
    },
  }),
  route({
    method: 'GET',
    path: `${one}/commits`,
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: async call => {
      const shas = await listPullCommits(call.repository, call.pull)
      const commits = await readCommits(call.repository.folder, shas.slice(0, commitsMax))
      return paginate(call, commits, page => page.map(each => renderListedCommit(call, each)))
    },
  }),
]

/** The pull request as text, which GitHub makes only of what is not too large. */
export async function answerDiff(call: Call<typeof one>, format: string): Promise<Answer> {
  const { repository, pull } = call
  const base = await mergeBase(repository, pull)
  const names = await runGit(repository.folder, ['diff', '--name-only', '-z', '-M', base, pull.head.sha])
  if (names.stdout.toString().split('\0').length - 1 > diffFilesMax) {
    return tooLarge(
      `Sorry, the diff exceeded the maximum number of files (${diffFilesMax}). Consider using 'List pull requests files' API or locally cloning the repository instead.`,
    )
  }
  const args = format === 'diff' ? ['diff', '-M', base, pull.head.sha] : ['format-patch', '--stdout', `${base}..${pull.head.sha}`]
  const { stdout } = await runGit(repository.folder, args)
  if (stdout.toString().split('\n').length - 1 > diffLinesMax)
    return tooLarge(`Sorry, the diff exceeded the maximum number of lines (${diffLinesMax})`)
  return { status: 200, text: stdout, headers: { 'content-type': `application/vnd.github.${format}; charset=utf-8` } }
}

function tooLarge(message: string): Answer {
  const answer = invalid({ resource: 'PullRequest', field: 'diff', code: 'too_large' })
  return { status: 406, json: { ...(answer.json as object), message, status: '406' } }
}
