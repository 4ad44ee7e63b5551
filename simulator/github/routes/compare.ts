import type { components } from '@octokit/openapi-types'
import { notFound } from '../answer.ts'
import { readChanges } from '../changed-path.ts'
import { readCommits } from '../commit-facts.ts'
import { repositoryApi, repositoryWeb } from '../links.ts'
import { paginate } from '../paginate.ts'
import { renderCommit, renderFile, renderListedCommit } from '../render/commit.ts'
import { git, resolveCommit, runGit } from '../repository-git.ts'
import { route } from '../route.ts'

export const compareRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/compare/{basehead+}',
    permission: { anyOf: [['contents', 'read']] },
    apply: async call => {
      const { links, repository, params } = call
      const { folder } = repository
      const [base, head] = await Promise.all(params.basehead.split('...', 2).map(name => resolveCommit(folder, name)))
      const merge = base && head ? await runGit(folder, ['merge-base', base, head]) : null
      // Also where the two histories never met.
      if (!base || !head || merge?.exitCode !== 0) return notFound()
      const middle = merge.stdout.toString().trim()
      const count = async (from: string, to: string) => Number(await git(folder, ['rev-list', '--count', to, `^${from}`]))
      const [ahead, behind] = [await count(base, head), await count(head, base)]
      const listed = (await git(folder, ['rev-list', '--reverse', head, `^${base}`])).split('\n').filter(Boolean)
      const commits = (await readCommits(folder, listed)).map(facts => renderListedCommit(call, facts))
      const web = `${repositoryWeb(links, repository)}/compare/${params.basehead}`
      const rest = {
        url: `${repositoryApi(links, repository)}/compare/${params.basehead}`,
        html_url: web,
        permalink_url: web,
        diff_url: `${web}.diff`,
        patch_url: `${web}.patch`,
        base_commit: await renderCommit(call, base),
        merge_base_commit: await renderCommit(call, middle),
        status:
          ahead > 0 ? (behind > 0 ? ('diverged' as const) : ('ahead' as const)) : behind > 0 ? ('behind' as const) : ('identical' as const),
        ahead_by: ahead,
        behind_by: behind,
        total_commits: commits.length,
        files: (await readChanges(folder, middle, head)).map(file => renderFile(call, file, head)),
      }
      return paginate(call, commits, page => ({ ...rest, commits: page }) satisfies components['schemas']['commit-comparison'])
    },
  }),
]
