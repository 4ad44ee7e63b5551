import type { components } from '@octokit/openapi-types'
import { accountApi, type Links, nodeId } from '../links.ts'
import type { Account } from '../state.ts'

export type SimpleUser = components['schemas']['simple-user'] & { gravatar_id: string; user_view_type: string }

const prefixes = { User: 'U', Bot: 'BOT', Organization: 'O', Mannequin: 'M' } as const

export function renderAccount(links: Links, account: Account): SimpleUser {
  const api = accountApi(links, account)
  const isBot = account.type === 'Bot' && account.login.endsWith('[bot]')
  const web = isBot ? `${links.web}/apps/${account.login.slice(0, -'[bot]'.length)}` : `${links.web}/${account.login}`
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId(prefixes[account.type], account.id),
    avatar_url: `${links.web}/avatars/u/${account.id}?v=4`,
    gravatar_id: '',
    url: api,
    html_url: web,
    followers_url: `${api}/followers`,
    following_url: `${api}/following{/other_user}`,
    gists_url: `${api}/gists{/gist_id}`,
    starred_url: `${api}/starred{/owner}{/repo}`,
    subscriptions_url: `${api}/subscriptions`,
    organizations_url: `${api}/orgs`,
    repos_url: `${api}/repos`,
    events_url: `${api}/events{/privacy}`,
    received_events_url: `${api}/received_events`,
    type: account.type,
    user_view_type: 'public',
    site_admin: account.siteAdmin,
  }
}

/** A deleted account is null in GitHub's answers, never a user called ghost. */
export function renderMaybe(links: Links, account: Account | null): SimpleUser | null {
  return account ? renderAccount(links, account) : null
}

/** `GET /users/{username}` says more than what is embedded elsewhere. */
export function renderPublicUser(links: Links, account: Account) {
  return {
    ...renderAccount(links, account),
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: '2020-01-01T00:00:00Z',
    updated_at: '2020-01-01T00:00:00Z',
  } satisfies components['schemas']['public-user']
}

/** As a webhook shows it. */
export function renderOrganization(links: Links, account: Account) {
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

/** As asked for by itself. */
export function renderFullOrganization(links: Links, account: Account) {
  return {
    ...renderOrganization(links, account),
    html_url: `${links.web}/${account.login}`,
    type: account.type,
    has_organization_projects: false,
    has_repository_projects: false,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: '2020-01-01T00:00:00Z',
    updated_at: '2020-01-01T00:00:00Z',
    archived_at: null,
  } satisfies components['schemas']['organization-full']
}
