import type { components } from '@octokit/openapi-types'
import * as z from 'zod'
import { type Answer, created, invalid, noContent, notFound, ok, refused } from '../answer.ts'
import { type Links, nodeId, repositoryApi } from '../links.ts'
import { paginate } from '../paginate.ts'
import { fits, type RefUpdate, refuseRef, ruleViolations } from '../ref-rules.ts'
import { renderCommit } from '../render/commit.ts'
import { git, listRefs, type Ref, readRef, runGit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'
import { fullName, type Repository } from '../state.ts'
import { syncPulls } from '../sync-pulls.ts'

const contents = (level: 'read' | 'write') => ({ anyOf: [['contents', level]] }) satisfies { anyOf: [string, 'read' | 'write'][] }
const sha = z.string().regex(/^[0-9a-f]{40}$/)

export const refRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/git/ref/{ref+}',
    permission: contents('read'),
    apply: async call => {
      const name = `refs/${call.params.ref}`
      const found = (await listRefs(call.repository.folder, name)).find(each => each.ref === name)
      return found ? ok(renderRef(call.links, call.repository, found)) : notFound()
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/git/matching-refs/{ref+}',
    permission: contents('read'),
    apply: async call => {
      const found = await listRefs(call.repository.folder, `refs/${call.params.ref}`)
      return paginate(
        call,
        found.map(each => renderRef(call.links, call.repository, each)),
      )
    },
  }),
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/git/refs',
    permission: contents('write'),
    schema: z.strictObject({ ref: z.string(), sha }),
    apply: async (call, body) => {
      const { folder } = call.repository
      if (!/^refs\/[^/]+\/.+/.test(body.ref)) return refused(422, "Reference name must start with 'refs/' and have at least two slashes")
      if (await readRef(folder, body.ref)) return refused(422, 'Reference already exists')
      if ((await runGit(folder, ['cat-file', '-e', body.sha])).exitCode !== 0) return refused(422, 'Object does not exist')
      const stopped = await stopRef(call, { ref: body.ref, old: null, next: body.sha })
      if (stopped) return stopped
      const made = await runGit(folder, ['update-ref', ...byApi, body.ref, body.sha, ''])
      if (made.exitCode !== 0) return refused(422, 'Reference update failed')
      return refMoved(call, body.ref, 201)
    },
  }),
  route({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/git/refs/{ref+}',
    permission: contents('write'),
    schema: z.strictObject({ sha, force: z.boolean().optional() }),
    apply: async (call, body) => {
      const { folder } = call.repository
      const name = `refs/${call.params.ref}`
      const old = await readRef(folder, name)
      if (!old) return refused(422, 'Reference does not exist')
      if ((await runGit(folder, ['cat-file', '-e', body.sha])).exitCode !== 0) return refused(422, 'Object does not exist')
      const forward = (await runGit(folder, ['merge-base', '--is-ancestor', old, body.sha])).exitCode === 0
      if (!forward && !body.force) return refused(422, 'Update is not a fast forward')
      const stopped = await stopRef(call, { ref: name, old, next: body.sha })
      if (stopped) return stopped
      await git(folder, ['update-ref', ...byApi, name, body.sha])
      return refMoved(call, name, 200)
    },
  }),
  route({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/git/refs/{ref+}',
    permission: contents('write'),
    apply: async call => {
      const name = `refs/${call.params.ref}`
      const { folder } = call.repository
      const old = await readRef(folder, name)
      if (!old) return refused(422, 'Reference does not exist')
      if (name === `refs/heads/${call.repository.defaultBranch}`) return refused(422, 'Cannot delete this branch')
      const stopped = await stopRef(call, { ref: name, old, next: null })
      if (stopped) return stopped
      await git(folder, ['update-ref', '-d', name])
      await syncPulls(call.state, call.repository, call.actor)
      return noContent()
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/branches',
    permission: contents('read'),
    apply: async call => {
      const refs = await listRefs(call.repository.folder, 'refs/heads/')
      return paginate(
        call,
        refs.map(each => renderShortBranch(call, each)),
      )
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/branches/{branch+}/protection',
    permission: { anyOf: [['administration', 'read']] },
    apply: call => {
      const rule = call.repository.protections.get(call.params.branch)
      if (!rule) return refused(404, 'Branch not protected')
      const reviews = rule.requirePullRequest
        ? { required_pull_request_reviews: { require_code_owner_reviews: false, dismiss_stale_reviews: false } }
        : {}
      const url = `${repositoryApi(call.links, call.repository)}/branches/${call.params.branch}/protection/required_signatures`
      return ok({
        allow_force_pushes: { enabled: rule.allowForcePushes },
        required_signatures: { url, enabled: rule.requireSignatures },
        ...reviews,
      })
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/rules/branches/{branch+}',
    permission: { anyOf: [['metadata', 'read']] },
    // The rulesets' rules, also for a branch that is not there yet; protections are not among them.
    apply: call => {
      const { repository, params } = call
      const fitting = repository.rulesets.filter(each => fits(each, params.branch))
      const rules = fitting.flatMap(({ id, rules }) =>
        rules.map(type => ({ type, ruleset_source_type: 'Repository', ruleset_source: fullName(repository), ruleset_id: id })),
      )
      return paginate(call, rules)
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/branches/{branch+}',
    permission: contents('read'),
    apply: async call => {
      const name = `refs/heads/${call.params.branch}`
      const tip = await readRef(call.repository.folder, name)
      if (!tip) return refused(404, 'Branch not found')
      const short = renderShortBranch(call, { ref: name, sha: tip, type: 'commit' })
      const { branch: leaf } = call.params
      const self = `${repositoryApi(call.links, call.repository)}/branches/${leaf}`
      const html = `${call.links.web}/${fullName(call.repository)}/tree/${leaf}`
      const branch = { ...short, commit: await renderCommit(call, tip), _links: { self, html } }
      return ok(branch satisfies components['schemas']['branch-with-protection'])
    },
  }),
]

/** In git's own log of a reference, where there is one, it stands beside the pushes. */
const byApi = ['-m', 'push by the API']

type RepoCall = Call<'{repo}'>

async function refMoved(call: RepoCall, name: string, status: number): Promise<Answer> {
  await syncPulls(call.state, call.repository, call.actor)
  const found = (await listRefs(call.repository.folder, name)).find(each => each.ref === name)
  if (!found) return invalid()
  const json = renderRef(call.links, call.repository, found)
  return status === 201 ? created(json) : ok(json)
}

async function stopRef({ repository, token }: RepoCall, update: RefUpdate): Promise<Answer | null> {
  const refusal = await refuseRef(repository, token, update)
  if (!refusal) return null
  if (refusal.by === 'workflows') return refused(403, refusal.reasons.join('\n'))
  return refused(422, refusal.by === 'protection' ? refusal.reasons.join('\n') : ruleViolations(refusal.reasons))
}

function renderRef(links: Links, repository: Repository, { ref, sha, type }: Ref) {
  const api = repositoryApi(links, repository)
  return {
    ref,
    node_id: nodeId('REF', repository.id),
    url: `${api}/git/${ref}`,
    object: { sha, type, url: `${api}/git/${type}s/${sha}` },
  } satisfies components['schemas']['git-ref']
}

function renderShortBranch(call: RepoCall, { ref, sha }: Ref) {
  const name = ref.replace(/^refs\/heads\//, '')
  const api = repositoryApi(call.links, call.repository)
  const rule = call.repository.protections.get(name)
  return {
    name,
    commit: { sha, url: `${api}/commits/${sha}` },
    protected: rule !== undefined,
    protection: {
      enabled: rule !== undefined,
      required_status_checks: {
        enforcement_level: rule && rule.requiredChecks.length > 0 ? 'everyone' : 'off',
        contexts: rule?.requiredChecks ?? [],
        checks: [],
      },
    },
    protection_url: `${api}/branches/${name}/protection`,
  } satisfies components['schemas']['short-branch']
}
