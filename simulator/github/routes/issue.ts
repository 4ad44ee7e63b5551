import * as z from 'zod'
import { created, type FieldError, invalid, ok, refused } from '../answer.ts'
import { editIssue } from '../edit-issue.ts'
import { openIssue, setIssueState } from '../open-issue.ts'
import { paginate } from '../paginate.ts'
import { atLeast, roleOf } from '../permission.ts'
import { renderIssue } from '../render/issue.ts'
import { route } from '../route.ts'
import { setLabels } from '../set-labels.ts'
import { findAccount, type GitHubState, type Issue, isListed, type Repository } from '../state.ts'
import { bodyCharactersMax, characters, titleCharactersMax } from '../text-limit.ts'

const anyIssues = {
  anyOf: [
    ['issues', 'read'],
    ['pull_requests', 'read'],
  ],
} satisfies { anyOf: [string, 'read'][] }

export const issueRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues',
    permission: anyIssues,
    apply: call =>
      paginate(
        call,
        listIssues(call.state, call.repository, call.query).map(each => renderIssue(call.state, call.links, call.repository, each)),
      ),
  }),
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues',
    permission: { anyOf: [['issues', 'write']] },
    schema: z.strictObject({
      title: z.union([z.string(), z.number()]),
      body: z.string().nullish(),
      labels: z.array(z.string()).optional(),
      assignees: z.array(z.string()).optional(),
      milestone: z.int().nullish(),
    }),
    apply: ({ state, links, repository, actor, token }, body) => {
      if (!repository.hasIssues) return refused(410, 'Issues has been disabled in this repository.')
      const title = String(body.title)
      const error = titleError('Issue', title) ?? bodyError('Issue', body.body)
      if (error) return invalid(error)
      // There are no milestones here.
      if (typeof body.milestone === 'number')
        return invalid({ resource: 'Issue', code: 'invalid', field: 'milestone', value: body.milestone })
      const assignees = (body.assignees ?? []).flatMap(login => findAccount(state, login) ?? [])
      const able = assignees.filter(each => atLeast(roleOf(repository, each), 'read'))
      if (able.length < (body.assignees ?? []).length)
        return invalid({ resource: 'Issue', code: 'invalid', field: 'assignees', value: body.assignees })
      const byApp = token?.kind === 'installation'
      const wish = { author: actor, title, body: body.body ?? null, labels: body.labels ?? [], assignees, byApp }
      const issue = openIssue(state, repository, wish)
      return created(renderIssue(state, links, repository, issue))
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{issue_number}',
    permission: { thread: 'read' },
    apply: ({ state, links, repository, issue }) => ok(renderIssue(state, links, repository, issue)),
  }),
  route({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/{issue_number}',
    permission: { thread: 'write' },
    schema: z.strictObject({
      title: z.string().optional(),
      body: z.string().nullish(),
      state: z.enum(['open', 'closed']).optional(),
      state_reason: z.enum(['completed', 'not_planned', 'duplicate', 'reopened']).nullish(),
      labels: z.array(z.string()).optional(),
    }),
    apply: ({ state, links, repository, issue, actor }, body) => {
      const error = (body.title === undefined ? null : titleError('Issue', body.title)) ?? bodyError('Issue', body.body)
      if (error) return invalid(error)
      editIssue(state, repository, issue, { title: body.title, body: body.body }, actor)
      if (body.labels !== undefined) setLabels(state, repository, issue, body.labels)
      // Why it was opened again, it says by itself.
      const reason = body.state_reason === 'reopened' || body.state_reason === null ? undefined : body.state_reason
      if (body.state !== undefined) setIssueState(state, repository, issue, body.state, actor, reason)
      issue.updatedAt = state.now()
      return ok(renderIssue(state, links, repository, issue))
    },
  }),
]

export function titleError(resource: string, title: string): FieldError | null {
  if (title.trim() === '') return { resource, code: 'missing_field', field: 'title' }
  if (characters(title) <= titleCharactersMax) return null
  return { resource, code: 'custom', field: 'title', message: `title is too long (maximum is ${titleCharactersMax} characters)` }
}

export function bodyError(resource: string, body: string | null | undefined): FieldError | null {
  if (characters(body ?? '') <= bodyCharactersMax) return null
  return { resource, code: 'custom', field: 'body', message: `body is too long (maximum is ${bodyCharactersMax} characters)` }
}

function listIssues(state: GitHubState, repository: Repository, query: URLSearchParams): Issue[] {
  const wanted = query.get('state') ?? 'open'
  const creator = query.get('creator')?.toLowerCase()
  const labels = (query.get('labels') ?? '').split(',').filter(label => label !== '')
  const since = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z')
  return [...repository.issues.values()]
    .filter(issue => isListed(state, issue.createdAt) && (wanted === 'all' || issue.state === wanted))
    .filter(issue => creator === undefined || issue.author?.login.toLowerCase() === creator)
    .filter(issue => labels.every(label => issue.labels.includes(label)) && issue.updatedAt >= since)
    .sort((a, b) => (query.get('direction') === 'asc' ? a.number - b.number : b.number - a.number))
}
