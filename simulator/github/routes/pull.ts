import * as z from 'zod'
import { type Answer, created, type FieldError, forbidden, invalid, ok } from '../answer.ts'
import { editIssue } from '../edit-issue.ts'
import { setIssueState } from '../open-issue.ts'
import { openPull } from '../open-pull.ts'
import { paginate } from '../paginate.ts'
import { mayChange } from '../permission.ts'
import { readPullFacts } from '../pull-facts.ts'
import { renderPull, renderPullSimple } from '../render/pull.ts'
import { readRef, runGit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'
import { isListed } from '../state.ts'
import { bodyError, titleError } from './issue.ts'
import { answerDiff } from './pull-diff.ts'

const all = '/repos/{owner}/{repo}/pulls'
const one = `${all}/{pull_number}` as const

export const pullRoutes = [
  route({
    method: 'GET',
    path: all,
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: call => paginate(call, listPulls(call).map(renderPullSimple)),
  }),
  route({
    method: 'POST',
    path: all,
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
        headRepo: body.head_repo,
        base: body.base,
        draft: body.draft ?? false,
        byApp: token?.kind === 'installation',
        maintainerCanModify: body.maintainer_can_modify ?? false,
      })
      if (opened.kind === 'refused') return invalid(...opened.errors)
      const { issue } = opened
      if (!issue.pull) throw new Error('an opened pull request without its pull part')
      // Whether it can be merged is found out later.
      const facts = { ...(await readPullFacts(repository, issue.pull)), mergeable: null }
      const json = renderPull({ state, links, repository, issue, pull: issue.pull }, facts)
      return created(json, { location: json.url })
    },
  }),
  route({
    method: 'GET',
    path: one,
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: async call => {
      const format = /application\/vnd\.github(?:\.v3)?\.(diff|patch)/.exec(call.accept)?.[1]
      if (format !== undefined) return answerDiff(call, format)
      return ok(renderPull(call, await readPullFacts(call.repository, call.pull)))
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
    apply: (call, body) => changePull(call, body),
  }),
]

type PullCall = Call<typeof one>
type Change = {
  title?: string | undefined
  body?: string | null | undefined
  state?: 'open' | 'closed' | undefined
  base?: string | undefined
  maintainer_can_modify?: boolean | undefined
}

async function changePull(call: PullCall, change: Change): Promise<Answer> {
  const { state, repository, issue, pull, token } = call
  if (!mayChange(repository, token, issue.author)) return forbidden('Must have write access to the repository.')
  const text = (change.title === undefined ? null : titleError('PullRequest', change.title)) ?? bodyError('PullRequest', change.body)
  const error = text ?? (await stateError(call, change)) ?? (await baseError(call, change))
  if (error) return invalid(error)
  const sha = change.base === undefined ? null : await readRef(repository.folder, `refs/heads/${change.base}`)
  const base = change.base !== undefined && sha ? { ref: change.base, sha } : undefined
  editIssue(state, repository, issue, { title: change.title, body: change.body, base }, call.actor)
  if (change.maintainer_can_modify !== undefined) pull.maintainerCanModify = change.maintainer_can_modify
  if (change.state !== undefined) setIssueState(state, repository, issue, change.state, call.actor)
  issue.updatedAt = state.now()
  return ok(renderPull(call, await readPullFacts(repository, pull)))
}

/** A merged one stays closed, and so does one whose branch is gone or was pushed to meanwhile. */
async function stateError({ issue, pull }: PullCall, change: Change): Promise<FieldError | null> {
  if (change.state !== 'open' || issue.state === 'open') return null
  const refuse = (message: string): FieldError => ({ resource: 'PullRequest', code: 'custom', field: 'state', message })
  if (pull.merged) return refuse('state cannot be changed. The pull request cannot be reopened.')
  const head = pull.head.repository
  const tip = head && (await readRef(head.folder, `refs/heads/${pull.head.ref}`))
  if (!head) return refuse('state cannot be changed. The repository that submitted this pull request has been deleted.')
  if (!tip) return refuse(`state cannot be changed. The ${pull.head.ref} branch has been deleted.`)
  return tip === pull.head.sha ? null : refuse(`state cannot be changed. The ${pull.head.ref} branch was force-pushed or recreated.`)
}

async function baseError({ repository, issue, pull }: PullCall, { base }: Change): Promise<FieldError | null> {
  if (base === undefined || base === pull.base.ref) return null
  const refuse = (message?: string): FieldError => ({
    resource: 'PullRequest',
    field: 'base',
    code: 'invalid',
    ...(message ? { message } : {}),
  })
  if (issue.state === 'closed') return refuse('Cannot change the base branch of a closed pull request.')
  const tip = await readRef(repository.folder, `refs/heads/${base}`)
  if (!tip) return refuse()
  const inside = await runGit(repository.folder, ['merge-base', '--is-ancestor', pull.head.sha, tip])
  return inside.exitCode === 0 ? refuse(`There are no new commits between base branch '${base}' and head branch '${pull.head.ref}'`) : null
}

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
