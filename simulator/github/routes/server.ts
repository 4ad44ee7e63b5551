import { notFound, ok } from '../answer.ts'
import { renderFullOrganization, renderPublicUser } from '../render/account.ts'
import { route } from '../route.ts'
import { findAccount } from '../state.ts'

export const serverRoutes = [
  route({
    method: 'GET',
    path: '/meta',
    permission: 'public',
    apply: () => ok({ verifiable_password_authentication: true, installed_version: '3.17.0' }),
  }),
  route({
    method: 'GET',
    path: '/rate_limit',
    permission: 'public',
    apply: ({ state }) => {
      const core = { limit: 5000, used: 0, remaining: 5000, reset: Math.ceil(state.now() / 1000) + 3600 }
      return ok({ resources: { core, search: { ...core, limit: 30, remaining: 30 }, graphql: core }, rate: core })
    },
  }),
  route({
    method: 'GET',
    path: '/user',
    permission: 'authenticated',
    apply: ({ links, token }) => (token?.kind === 'user' ? ok(renderPublicUser(links, token.actor)) : notFound()),
  }),
  route({
    method: 'GET',
    path: '/users/{username}',
    permission: 'public',
    apply: ({ state, links, params }) => {
      const account = findAccount(state, params.username)
      return account ? ok(renderPublicUser(links, account)) : notFound()
    },
  }),
  route({
    method: 'GET',
    path: '/orgs/{org}',
    permission: 'public',
    apply: ({ state, links, params }) => {
      const account = findAccount(state, params.org)
      return account?.type === 'Organization' ? ok(renderFullOrganization(links, account)) : notFound()
    },
  }),
]
