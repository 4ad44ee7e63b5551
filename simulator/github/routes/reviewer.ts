import * as z from 'zod'
import { created, ok, refused } from '../answer.ts'
import { atLeast, roleOf } from '../permission.ts'
import { renderAccount } from '../render/account.ts'
import { renderPullSimple } from '../render/pull.ts'
import { route } from '../route.ts'
import { findAccount, fullName } from '../state.ts'

const path = '/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers'
const wish = z.strictObject({ reviewers: z.array(z.string()).optional(), team_reviewers: z.array(z.string()).optional() })

export const reviewerRoutes = [
  route({
    method: 'GET',
    path,
    permission: { anyOf: [['pull_requests', 'read']] },
    apply: ({ links, pull }) => ok({ users: pull.requestedReviewers.map(each => renderAccount(links, each)), teams: [] }),
  }),
  route({
    method: 'POST',
    path,
    permission: { anyOf: [['pull_requests', 'write']] },
    schema: wish,
    apply: (call, body) => {
      const { state, repository, issue, pull } = call
      const accounts = (body.reviewers ?? []).map(login => findAccount(state, login))
      if (accounts.some(each => each && each.id === issue.author?.id))
        return refused(422, 'Review cannot be requested from pull request author.')
      const people = accounts
        .filter(each => each !== undefined)
        .filter(each => each.type === 'User' && atLeast(roleOf(repository, each), 'read'))
      if (people.length < accounts.length || (body.team_reviewers ?? []).length > 0) {
        return refused(
          422,
          `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${fullName(repository)} repository.`,
        )
      }
      pull.requestedReviewers = [...new Set([...pull.requestedReviewers, ...people])]
      return created(renderPullSimple(call))
    },
  }),
  route({
    method: 'DELETE',
    path,
    permission: { anyOf: [['pull_requests', 'write']] },
    schema: wish,
    apply: (call, body) => {
      const gone = new Set((body.reviewers ?? []).map(login => login.toLowerCase()))
      call.pull.requestedReviewers = call.pull.requestedReviewers.filter(each => !gone.has(each.login.toLowerCase()))
      return ok(renderPullSimple(call))
    },
  }),
]
