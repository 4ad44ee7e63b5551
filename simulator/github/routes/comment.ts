import * as z from 'zod'
import { type Answer, created, forbidden, invalid, noContent, ok } from '../answer.ts'
import { addComment, deleteComment, editComment } from '../open-issue.ts'
import { paginate } from '../paginate.ts'
import { mayChange, passesLock } from '../permission.ts'
import { refuseLocked } from '../refuse-here.ts'
import { renderComment } from '../render/issue.ts'
import { type Call, route } from '../route.ts'
import { type Comment, type Issue, isListed } from '../state.ts'
import { bodyCharactersMax, bodyTooLong, characters } from '../text-limit.ts'

const text = z.strictObject({ body: z.string() })

export const commentRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/comments',
    permission: { thread: 'read' },
    apply: call => {
      const since = Date.parse(call.query.get('since') ?? '1970-01-01T00:00:00Z')
      const listed = listComments(call, call.issue).filter(each => (each.versions.at(-1)?.at ?? 0) >= since)
      return paginate(
        call,
        listed.map(each => renderComment(call.state, call.links, call.repository, each, true)),
      )
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments',
    permission: {
      anyOf: [
        ['issues', 'read'],
        ['pull_requests', 'read'],
      ],
    },
    apply: call =>
      paginate(
        call,
        listComments(call).map(each => renderComment(call.state, call.links, call.repository, each, true)),
      ),
  }),
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/comments',
    permission: { thread: 'write' },
    schema: text,
    apply: ({ state, links, repository, issue, actor, token }, { body }) => {
      if (issue.locked && !passesLock(repository, token)) return refuseLocked('create comment')
      const error = checkText(body)
      if (error) return error
      const comment = addComment(state, repository, issue, { author: actor, body, byApp: token?.kind === 'installation' })
      return created(renderComment(state, links, repository, comment), { location: renderComment(state, links, repository, comment).url })
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    permission: { thread: 'read' },
    apply: ({ state, links, repository, comment }) => ok(renderComment(state, links, repository, comment)),
  }),
  route({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    permission: { thread: 'write' },
    schema: text,
    apply: (call, { body }) => {
      if (!mayChange(call.repository, call.token, call.comment.author)) return forbidden()
      if (call.issue.locked && !passesLock(call.repository, call.token)) return refuseLocked('update comment')
      const error = checkText(body)
      if (error) return error
      editComment(call.state, call.repository, call.comment, body, call.actor)
      return ok(renderComment(call.state, call.links, call.repository, call.comment))
    },
  }),
  route({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    permission: { thread: 'write' },
    apply: call => {
      if (!mayChange(call.repository, call.token, call.comment.author)) return forbidden()
      deleteComment(call.state, call.repository, call.comment, call.actor)
      return noContent()
    },
  }),
]

function listComments({ state, repository }: Pick<Call<'{repo}'>, 'state' | 'repository'>, issue?: Issue): Comment[] {
  return [...repository.comments.values()].filter(each => isListed(state, each.createdAt) && (!issue || each.issueNumber === issue.number))
}

function checkText(body: string): Answer | null {
  if (body.trim() === '') return invalid({ resource: 'IssueComment', code: 'missing_field', field: 'body' })
  if (characters(body) > bodyCharactersMax) return invalid(bodyTooLong('IssueComment', 'data'))
  return null
}
