import * as z from 'zod'
import { created, invalid, noContent, notFound, ok } from '../answer.ts'
import { paginate } from '../paginate.ts'
import { renderLabel } from '../render/issue.ts'
import { type Call, route } from '../route.ts'
import { addLabel, setLabels } from '../set-labels.ts'

const names = z.strictObject({ labels: z.array(z.string()) })
const ofIssue = '/repos/{owner}/{repo}/issues/{issue_number}/labels'

export const labelRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/labels',
    permission: {
      anyOf: [
        ['issues', 'read'],
        ['pull_requests', 'read'],
      ],
    },
    apply: call =>
      paginate(
        call,
        [...call.repository.labels.values()].map(each => renderLabel(call.links, call.repository, each)),
      ),
  }),
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/labels',
    permission: {
      anyOf: [
        ['issues', 'write'],
        ['pull_requests', 'write'],
      ],
    },
    schema: z.strictObject({
      name: z.string().min(1).max(50),
      color: z
        .string()
        .regex(/^[0-9a-fA-F]{6}$/)
        .optional(),
      description: z.string().max(100).optional(),
    }),
    apply: ({ state, links, repository }, body) => {
      if (repository.labels.has(body.name.toLowerCase())) return invalid({ resource: 'Label', code: 'already_exists', field: 'name' })
      const label = addLabel(state, repository, body)
      return created(renderLabel(links, repository, label))
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/labels/{name}',
    permission: {
      anyOf: [
        ['issues', 'read'],
        ['pull_requests', 'read'],
      ],
    },
    apply: ({ links, repository, params }) => {
      const label = repository.labels.get(params.name.toLowerCase())
      return label ? ok(renderLabel(links, repository, label)) : notFound()
    },
  }),
  route({ method: 'GET', path: ofIssue, permission: { thread: 'read' }, apply: call => paginate(call, shown(call)) }),
  route({
    method: 'POST',
    path: ofIssue,
    permission: { thread: 'write' },
    schema: names,
    apply: (call, body) => {
      setLabels(call.state, call.repository, call.issue, [...call.issue.labels, ...body.labels])
      return ok(shown(call))
    },
  }),
  route({
    method: 'PUT',
    path: ofIssue,
    permission: { thread: 'write' },
    schema: names,
    apply: (call, body) => {
      setLabels(call.state, call.repository, call.issue, body.labels)
      return ok(shown(call))
    },
  }),
  route({
    method: 'DELETE',
    path: `${ofIssue}/{name}`,
    permission: { thread: 'write' },
    apply: call => {
      const kept = call.issue.labels.filter(each => each.toLowerCase() !== call.params.name.toLowerCase())
      if (kept.length === call.issue.labels.length) return notFound()
      call.issue.labels = kept
      return ok(shown(call))
    },
  }),
  route({
    method: 'DELETE',
    path: ofIssue,
    permission: { thread: 'write' },
    apply: call => {
      call.issue.labels = []
      return noContent()
    },
  }),
]

type IssueCall = Call<'{repo}{issue_number}'>

function shown({ links, repository, issue }: IssueCall) {
  return issue.labels.flatMap(name => {
    const label = repository.labels.get(name.toLowerCase())
    return label ? [renderLabel(links, repository, label)] : []
  })
}
