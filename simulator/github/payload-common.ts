import { findInstallation } from './installation.ts'
import { type Links, nodeId } from './links.ts'
import { renderAccount, renderOrganization } from './render/account.ts'
import { renderRepository } from './render/repository.ts'
import type { Account, GitHubState, Repository } from './state.ts'

/** What every webhook about a repository ends with. */
export function commonFields(state: GitHubState, links: Links, repository: Repository, sender: Account | null) {
  const installation = findInstallation(state, repository)
  return {
    repository: renderRepository(links, repository),
    ...(repository.owner.type === 'Organization' ? { organization: renderOrganization(links, repository.owner) } : {}),
    // A deleted account's events name GitHub's ghost.
    sender: renderAccount(links, sender ?? { id: 10137, login: 'ghost', type: 'User', name: null, siteAdmin: false }),
    ...(installation ? { installation: { id: installation.id, node_id: nodeId('IN', installation.id) } } : {}),
  }
}
