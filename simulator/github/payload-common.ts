import { findInstallation } from './installation.ts'
import { type Links, nodeId } from './links.ts'
import { renderAccount } from './render/account.ts'
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

function renderOrganization(links: Links, account: Account) {
  const api = `${links.api}/orgs/${account.login}`
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId('O', account.id),
    url: api,
    repos_url: `${api}/repos`,
    events_url: `${api}/events`,
    hooks_url: `${api}/hooks`,
    issues_url: `${api}/issues`,
    members_url: `${api}/members{/member}`,
    public_members_url: `${api}/public_members{/member}`,
    avatar_url: `${links.web}/avatars/u/${account.id}?v=4`,
    description: '',
  }
}
