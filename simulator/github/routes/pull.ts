import * as z from 'zod'
import { created, invalid, ok, refused } from '../answer.ts'
import { setIssueState } from '../open-issue.ts'
import { closingNumbers, openPull } from '../open-pull.ts'
import { paginate } from '../paginate.ts'
import { mergeBase, readPullFacts, readPullFiles } from '../pull-facts.ts'
import { renderFile } from '../render/commit.ts'
import { renderPull, renderPullSimple } from '../render/pull.ts'
import { readRef, runGit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'
import { fullName, isListed } from '../state.ts'
import { bodyError, titleError } from './issue.ts'

const one = '/repos/{owner}/{repo}/pulls/{pull_number}'
/** GitHub lists no more files of a pull request. */
const filesMax = 3000
/** GitHub makes no diff of more files. */
const diffFilesMax = 300

export const pullRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/pulls',
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: call => paginate(call, listPulls(call).map(renderPullSimple)),
  }),
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/pulls',
    permission: { anyOf: [['pull_requests', 'write']] },
    schema: z.strictObject({
      title: z.string().optional(),
      head: z.string(),
      head_repo: z.string().optional(),
      base: z.string(),
      body: z.string().nullish(),
      draft: z.boolean().optional(),
      maintainer_can_modify: z.boolean().optional(),
    }),
    apply: async ({ state, links, repository, actor, token }, body) => {
      const error = titleError('PullRequest', body.title ?? '') ?? bodyError('PullRequest', body.body)
      if (error) return invalid(error)
      const opened = await openPull(state, repository, {
        author: actor,
        title: body.title ?? '',
        body: body.body ?? null,
        head: body.head,
        base: body.base,
        draft: body.draft ?? false,
        byApp: token?.kind === 'installation',
        maintainerCanModify: body.maintainer_can_modify ?? false,
      })
      if (opened.kind === 'refused') return invalid(...opened.errors)
      const { issue } = opened
      if (!issue.pull) throw new Error('an opened pull request without its pull part')
      return created(
        renderPull(
          { state, links, repository, issue, pull: issue.pull },
          { ...(await readPullFacts(repository, issue.pull)), mergeable: null },
        ),
      )
    },
  }),
  route({
    method: 'GET',
    path: one,
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: async call => {
      const format = /application\/vnd\.github(?:\.v3)?\.(diff|patch)/.exec(call.accept)?.[1]
      if (format === undefined) return ok(renderPull(call, await readPullFacts(call.repository, call.pull)))
      const files = await readPullFiles(call.repository, call.pull)
      if (files.length > diffFilesMax) return refused(406, `Sorry, the diff exceeded the maximum number of files (${diffFilesMax}).`)
      const base = await mergeBase(call.repository, call.pull)
      const args = format === 'diff' ? ['diff', base, call.pull.head.sha] : ['format-patch', '--stdout', `${base}..${call.pull.head.sha}`]
      const { stdout } = await runGit(call.repository.folder, args)
      return { status: 200, text: stdout, headers: { 'content-type': `application/vnd.github.${format}; charset=utf-8` } }
    },
  }),
  route({
    method: 'PATCH',
    path: one,
    permission: { anyOf: [['pull_requests', 'write']] },
    schema: z.strictObject({
      title: z.string().optional(),
      body: z.string().nullish(),
      state: z.enum(['open', 'closed']).optional(),
      base: z.string().optional(),
      maintainer_can_modify: z.boolean().optional(),
    }),
    apply: async (call, body) => {
      const { state, repository, issue, pull } = call
      const error = (body.title === undefined ? null : titleError('PullRequest', body.title)) ?? bodyError('PullRequest', body.body)
      if (error) return invalid(error)
      const baseSha = body.base === undefined ? pull.base.sha : await readRef(repository.folder, `refs/heads/${body.base}`)
      if (!baseSha) return invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' })
      if (body.base !== undefined) pull.base = { ref: body.base, sha: baseSha }
      if (body.title !== undefined) issue.title = body.title
      if (body.body !== undefined) issue.body = body.body
      if (body.body !== undefined) pull.closes = closingNumbers(body.body ?? '', fullName(repository))
      if (body.state !== undefined) setIssueState(state, repository, issue, body.state, call.actor)
      issue.updatedAt = state.now()
      return ok(renderPull(call, await readPullFacts(repository, pull)))
    },
  }),
  route({
    method: 'GET',
    path: `${one}/files`,
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: async call => {
      const files = await readPullFiles(call.repository, call.pull)
      return paginate(
        call,
        files.slice(0, filesMax).map(file => renderFile(call, file, call.pull.head.sha)),
      )
    },
  }),
]

function listPulls(call: Call<'{repo}'>) {
  const { state, links, repository, query } = call
  const wanted = query.get('state') ?? 'open'
  const [head, base] = [query.get('head'), query.get('base')]
  return [...repository.issues.values()]
    .flatMap(issue => (issue.pull ? [{ state, links, repository, issue, pull: issue.pull }] : []))
    .filter(({ issue }) => isListed(state, issue.createdAt) && (wanted === 'all' || issue.state === wanted))
    .filter(
      ({ pull }) =>
        (base === null || pull.base.ref === base) && (!head?.includes(':') || `${pull.head.owner.login}:${pull.head.ref}` === head),
    )
    .sort((a, b) => (query.get('direction') === 'asc' ? a.issue.number - b.issue.number : b.issue.number - a.issue.number))
}
