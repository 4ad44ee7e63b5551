import type { components } from '@octokit/openapi-types'
import { noContent, notFound, ok, refused } from '../answer.ts'
import { paginate } from '../paginate.ts'
import { atLeast, roleNameOf, roleOf } from '../permission.ts'
import { renderAccount } from '../render/account.ts'
import { renderFullRepository, renderPermissions } from '../render/repository.ts'
import { route } from '../route.ts'
import { findAccount, type Role } from '../state.ts'

/** The permission in the answer knows only four words; the finer role is in `role_name`. */
const legacy: Record<Role, string> = { admin: 'admin', maintain: 'write', write: 'write', triage: 'read', read: 'read', none: 'none' }

export const repositoryRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}',
    permission: 'public',
    apply: ({ links, repository, token }) => {
      const role = token?.kind === 'user' ? roleOf(repository, token.actor) : undefined
      return ok(renderFullRepository(links, repository, role))
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators',
    permission: { anyOf: [['metadata', 'read']] },
    apply: call => {
      const people = [...call.repository.roles].flatMap(([login, { role, roleName }]) => {
        const account = findAccount(call.state, login)
        return account && role !== 'none'
          ? [{ ...renderAccount(call.links, account), permissions: renderPermissions(role), role_name: roleName }]
          : []
      })
      return paginate(call, people)
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators/{username}/permission',
    permission: { anyOf: [['metadata', 'read']] },
    apply: ({ state, links, repository, params }) => {
      const account = findAccount(state, params.username)
      // Apps' bots answer "none"; organisations, mannequins and bots without the suffix are no users to this route.
      const isUser = account?.type === 'User' || (account?.type === 'Bot' && account.login.endsWith('[bot]'))
      if (!account || !isUser) return refused(404, `${params.username} is not a user`)
      const role = roleOf(repository, account)
      const role_name = roleNameOf(repository, account)
      return ok({
        permission: legacy[role],
        user: { ...renderAccount(links, account), permissions: renderPermissions(role), role_name },
        role_name,
      } satisfies components['schemas']['repository-collaborator-permission'])
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators/{username}',
    permission: { anyOf: [['metadata', 'read']] },
    apply: ({ state, repository, params }) => {
      const account = findAccount(state, params.username)
      return account && atLeast(roleOf(repository, account), 'read') ? noContent() : notFound()
    },
  }),
]
