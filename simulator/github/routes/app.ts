import type { components } from '@octokit/openapi-types'
import * as z from 'zod'
import { created, invalid, noContent, notFound, ok, refused } from '../answer.ts'
import { mintToken } from '../credential.ts'
import { time } from '../links.ts'
import { paginate } from '../paginate.ts'
import { covers, grants } from '../permission.ts'
import { renderApp, renderInstallation } from '../render/app.ts'
import { renderRepository } from '../render/repository.ts'
import { type Call, route } from '../route.ts'
import type { GitHubState, Installation, Permissions, Repository } from '../state.ts'

const level = z.enum(['read', 'write', 'admin'])

export const appRoutes = [
  route({
    method: 'GET',
    path: '/app',
    permission: 'app',
    apply: ({ state, links }) => ok(renderApp(links, state.app, state.installations.size)),
  }),
  route({
    method: 'GET',
    path: '/app/installations',
    permission: 'app',
    apply: call =>
      paginate(
        call,
        [...call.state.installations.values()].map(each => renderInstallation(call.links, call.state.app, each)),
      ),
  }),
  route({
    method: 'GET',
    path: '/app/installations/{installation_id}',
    permission: 'app',
    apply: call => oneInstallation(call, call.state.installations.get(Number(call.params.installation_id))),
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/installation',
    permission: 'app',
    apply: call =>
      oneInstallation(
        call,
        findInstallation(call.state, each => covers(each, call.repository)),
      ),
  }),
  route({
    method: 'GET',
    path: '/users/{username}/installation',
    permission: 'app',
    apply: call =>
      oneInstallation(
        call,
        findInstallation(call.state, each => sameLogin(each, call.params.username)),
      ),
  }),
  route({
    method: 'GET',
    path: '/orgs/{org}/installation',
    permission: 'app',
    apply: call =>
      oneInstallation(
        call,
        findInstallation(call.state, each => sameLogin(each, call.params.org)),
      ),
  }),
  route({
    method: 'POST',
    path: '/app/installations/{installation_id}/access_tokens',
    permission: 'app',
    schema: z.strictObject({
      repositories: z.array(z.string()).max(500).optional(),
      repository_ids: z.array(z.int()).max(500).optional(),
      permissions: z.record(z.string(), level).optional(),
    }),
    apply: (call, body) => mint(call, body),
  }),
  route({
    method: 'GET',
    path: '/installation/repositories',
    permission: 'installation',
    apply: call => {
      const { token } = call
      if (token?.kind !== 'installation') return notFound()
      const seen = [...call.state.repositories.values()].filter(
        each => covers(token.installation, each) && (token.repositoryIds?.has(each.id) ?? true),
      )
      return paginate(
        call,
        seen.map(each => renderRepository(call.links, each)),
        (repositories, total_count) => ({
          total_count,
          repository_selection: token.installation.selection ? 'selected' : 'all',
          repositories,
        }),
      )
    },
  }),
  route({
    method: 'DELETE',
    path: '/installation/token',
    permission: 'installation',
    apply: ({ state, token }) => {
      for (const [value, each] of state.tokens) if (each === token) state.tokens.delete(value)
      return noContent()
    },
  }),
]

function findInstallation(state: GitHubState, fits: (each: Installation) => boolean): Installation | undefined {
  return [...state.installations.values()].find(fits)
}

function sameLogin(installation: Installation, login: string): boolean {
  return installation.account.login.toLowerCase() === login.toLowerCase()
}

function oneInstallation(call: Pick<Call<''>, 'links' | 'state'>, installation: Installation | undefined) {
  return installation ? ok(renderInstallation(call.links, call.state.app, installation)) : notFound()
}

type TokenBody = { repositories?: string[] | undefined; repository_ids?: number[] | undefined; permissions?: Permissions | undefined }

function mint(call: Pick<Call<'{installation_id}'>, 'links' | 'state' | 'params' | 'attempt'>, body: TokenBody) {
  const { state } = call
  const installation = state.installations.get(Number(call.params.installation_id))
  if (!installation) return notFound()
  if (installation.suspendedAt !== null) return refused(403, 'This installation has been suspended')
  const chosen = chooseRepositories(state, installation, body)
  if (chosen === 'unknown') {
    return refused(422, 'There is at least one repository that does not exist or is not accessible to the parent installation.')
  }
  const asked = body.permissions
  if (asked && Object.keys(asked).length === 0) return invalid({ resource: 'AccessToken', field: 'permissions', code: 'invalid' })
  if (asked && Object.entries(asked).some(([name, each]) => !grants(installation.permissions, name, each))) {
    return refused(422, 'The permissions requested are not granted to this installation.')
  }
  // Reading metadata can not be taken from a token.
  const permissions: Permissions = asked ? { metadata: 'read', ...asked } : { ...installation.permissions }
  const ids = chosen ? new Set(chosen.map(each => each.id)) : null
  const { value, expiresAt } = mintToken(state, installation, permissions, ids, call.attempt)
  const answer = {
    token: value,
    expires_at: time(expiresAt),
    permissions,
    repository_selection: chosen || installation.selection ? 'selected' : 'all',
    ...(chosen ? { repositories: chosen.map(each => renderRepository(call.links, each)) } : {}),
  } satisfies components['schemas']['installation-token']
  return created(answer)
}

function chooseRepositories(state: GitHubState, installation: Installation, body: TokenBody): Repository[] | null | 'unknown' {
  if (!body.repositories && !body.repository_ids) return null
  const covered = [...state.repositories.values()].filter(each => covers(installation, each))
  const byName = (body.repositories ?? []).map(name => covered.find(each => each.name.toLowerCase() === name.toLowerCase()))
  const byId = (body.repository_ids ?? []).map(id => covered.find(each => each.id === id))
  const all = [...byName, ...byId]
  return all.every(each => each !== undefined) ? [...new Set(all)] : 'unknown'
}
