import type { Octokit } from '@octokit/rest'
import { type Role, roles } from '../domain/index.ts'
import { statusOf } from './classify-error.ts'
import type { RepositoryName } from './repository-name.ts'

/**
 * The actor's role from the collaborators API, the only truth about it; the webhook's association is a hint. 404 means
 * "not a user of this repository". Custom roles are read from the permission flags. Any other error throws: fail closed.
 */
export async function readRole(
  api: Octokit,
  { owner, repo }: RepositoryName,
  { login: username, id }: { login: string; id: number },
): Promise<Role> {
  try {
    const { data } = await api.rest.repos.getCollaboratorPermissionLevel({ owner, repo, username })
    // A name may belong to somebody else by now.
    if (data.user && data.user.id !== id) return 'none'
    const flags = data.user?.permissions
    if (flags?.admin) return 'admin'
    if (flags?.maintain) return 'maintain'
    if (flags?.push) return 'write'
    if (flags?.triage) return 'triage'
    if (flags?.pull) return 'read'
    return flags ? 'none' : plainRole(data.permission)
  } catch (error) {
    if (statusOf(error) === 404) return 'none'
    throw error
  }
}

function plainRole(permission: string): Role {
  return (roles as readonly string[]).includes(permission) ? (permission as Role) : 'none'
}

export type RepositoryFacts = {
  id: number
  defaultBranch: string
  visibility: 'public' | 'private' | 'internal'
  cloneUrl: string
  archived: boolean
}

export async function readRepository(api: Octokit, { owner, repo }: RepositoryName): Promise<RepositoryFacts> {
  const { data } = await api.rest.repos.get({ owner, repo })
  const visibility = data.visibility === 'public' || data.visibility === 'internal' ? data.visibility : data.private ? 'private' : 'public'
  return { id: Number(data.id), defaultBranch: data.default_branch, visibility, cloneUrl: data.clone_url, archived: data.archived }
}

/** The sha of a branch, or null when the repository has no such branch (an empty repository answers 409). */
export async function readBranchSha(api: Octokit, { owner, repo }: RepositoryName, branch: string): Promise<string | null> {
  try {
    const { data } = await api.rest.git.getRef({ owner, repo, ref: `heads/${branch}` })
    return data.object.sha
  } catch (error) {
    const status = statusOf(error)
    if (status === 404 || status === 409) return null
    throw error
  }
}

/** Whether a commit is in the history of another; false when the repository does not have one of them. */
export async function isInHistory(api: Octokit, { owner, repo }: RepositoryName, commit: string, of: string): Promise<boolean> {
  try {
    const { data } = await api.rest.repos.compareCommitsWithBasehead({ owner, repo, basehead: `${commit}...${of}`, per_page: 1 })
    return data.status === 'ahead' || data.status === 'identical'
  } catch (error) {
    if (statusOf(error) === 404) return false
    throw error
  }
}
