import * as z from 'zod'
import { type Answer, created, forbidden, noContent, notFound, ok } from '../answer.ts'
import { paginate } from '../paginate.ts'
import { passesLock } from '../permission.ts'
import { refuseLocked } from '../refuse-here.ts'
import { renderReaction } from '../render/issue.ts'
import { type Call, route } from '../route.ts'
import { type Issue, isListed, type Reaction, type ReactionContent, reactionContents } from '../state.ts'

const wish = z.strictObject({ content: z.enum(reactionContents) })
const ofComment = '/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions'
const ofReviewComment = '/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions'
const ofIssue = '/repos/{owner}/{repo}/issues/{issue_number}/reactions'

export const reactionRoutes = [
  route({ method: 'GET', path: ofComment, permission: { thread: 'read' }, apply: call => list(call, call.comment.reactions) }),
  route({
    method: 'POST',
    path: ofComment,
    permission: { thread: 'write' },
    schema: wish,
    apply: (call, body) => react(call, call.comment.reactions, body.content),
  }),
  route({
    method: 'DELETE',
    path: `${ofComment}/{reaction_id}`,
    permission: { thread: 'write' },
    apply: call => remove(call, call.comment.reactions, call.params.reaction_id),
  }),
  route({
    method: 'GET',
    path: ofReviewComment,
    permission: { thread: 'read' },
    apply: call => list(call, call.reviewComment.reactions),
  }),
  route({
    method: 'POST',
    path: ofReviewComment,
    permission: { thread: 'write' },
    schema: wish,
    apply: (call, body) => react(call, call.reviewComment.reactions, body.content),
  }),
  route({
    method: 'DELETE',
    path: `${ofReviewComment}/{reaction_id}`,
    permission: { thread: 'write' },
    apply: call => remove(call, call.reviewComment.reactions, call.params.reaction_id),
  }),
  route({ method: 'GET', path: ofIssue, permission: { thread: 'read' }, apply: call => list(call, call.issue.reactions) }),
  route({
    method: 'POST',
    path: ofIssue,
    permission: { thread: 'write' },
    schema: wish,
    apply: (call, body) => react(call, call.issue.reactions, body.content),
  }),
  route({
    method: 'DELETE',
    path: `${ofIssue}/{reaction_id}`,
    permission: { thread: 'write' },
    apply: call => remove(call, call.issue.reactions, call.params.reaction_id),
  }),
]

type Base = Pick<Call<'{repo}'>, 'state' | 'links' | 'query' | 'url' | 'actor' | 'token' | 'repository'>

function list(call: Base, reactions: Reaction[]): Answer {
  const content = call.query.get('content')
  const listed = reactions.filter(each => isListed(call.state, each.createdAt) && (content === null || each.content === content))
  return paginate(
    call,
    listed.map(each => renderReaction(call.links, each)),
  )
}

/** The same reaction a second time is the first one again: 200 in place of 201. */
function react(call: Base & { issue: Issue }, reactions: Reaction[], content: ReactionContent): Answer {
  const { actor, state, links } = call
  if (!actor) return forbidden()
  if (call.issue.locked && !passesLock(call.repository, call.token)) return refuseLocked('create reaction')
  const present = reactions.find(each => each.actor.id === actor.id && each.content === content)
  if (present) return ok(renderReaction(links, present))
  const reaction: Reaction = { id: state.nextId(), content, actor, createdAt: state.now() }
  reactions.push(reaction)
  return created(renderReaction(links, reaction))
}

function remove({ actor }: Base, reactions: Reaction[], id: string): Answer {
  const at = reactions.findIndex(each => each.id === Number(id))
  const reaction = reactions[at]
  if (!reaction) return notFound()
  if (reaction.actor.id !== actor?.id) return forbidden()
  reactions.splice(at, 1)
  return noContent()
}
