import type { components } from '@octokit/openapi-types'
import { type Links, nodeId, repositoryApi, repositoryWeb, time } from '../links.ts'
import { atLeast } from '../permission.ts'
import { fullName, type Repository, type Role } from '../state.ts'
import { renderAccount } from './account.ts'

export function renderRepository(links: Links, repository: Repository) {
  const openIssues = [...repository.issues.values()].filter(issue => issue.state === 'open').length
  return {
    id: repository.id,
    node_id: nodeId('R', repository.id),
    name: repository.name,
    full_name: fullName(repository),
    private: repository.private,
    owner: renderAccount(links, repository.owner),
    html_url: repositoryWeb(links, repository),
    description: repository.description,
    fork: repository.forkOf !== null,
    ...renderUrls(links, repository),
    created_at: time(repository.createdAt),
    updated_at: time(repository.pushedAt),
    pushed_at: time(repository.pushedAt),
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: repository.hasIssues,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    mirror_url: null,
    archived: repository.archived,
    disabled: false,
    open_issues_count: openIssues,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? 'private' : 'public',
    forks: 0,
    open_issues: openIssues,
    watchers: 0,
    default_branch: repository.defaultBranch,
    custom_properties: {},
  } satisfies components['schemas']['repository'] & Pick<components['schemas']['full-repository'], 'custom_properties'>
}

/** As asked for by itself: there its network is counted too. */
export function renderFullRepository(links: Links, repository: Repository, role?: Role) {
  const counted = { ...renderRepository(links, repository), network_count: 0, subscribers_count: 0 }
  return { ...counted, ...(role ? { permissions: renderPermissions(role) } : {}) }
}

/** The legacy booleans; a custom role shows its base role here. */
export function renderPermissions(role: Role) {
  return {
    admin: atLeast(role, 'admin'),
    maintain: atLeast(role, 'maintain'),
    push: atLeast(role, 'write'),
    triage: atLeast(role, 'triage'),
    pull: atLeast(role, 'read'),
  }
}

function renderUrls(links: Links, repository: Repository) {
  const api = repositoryApi(links, repository)
  const web = repositoryWeb(links, repository)
  const host = new URL(links.web).host
  return {
    url: api,
    forks_url: `${api}/forks`,
    keys_url: `${api}/keys{/key_id}`,
    collaborators_url: `${api}/collaborators{/collaborator}`,
    teams_url: `${api}/teams`,
    hooks_url: `${api}/hooks`,
    issue_events_url: `${api}/issues/events{/number}`,
    events_url: `${api}/events`,
    assignees_url: `${api}/assignees{/user}`,
    branches_url: `${api}/branches{/branch}`,
    tags_url: `${api}/tags`,
    blobs_url: `${api}/git/blobs{/sha}`,
    git_tags_url: `${api}/git/tags{/sha}`,
    git_refs_url: `${api}/git/refs{/sha}`,
    trees_url: `${api}/git/trees{/sha}`,
    statuses_url: `${api}/statuses/{sha}`,
    languages_url: `${api}/languages`,
    stargazers_url: `${api}/stargazers`,
    contributors_url: `${api}/contributors`,
    subscribers_url: `${api}/subscribers`,
    subscription_url: `${api}/subscription`,
    commits_url: `${api}/commits{/sha}`,
    git_commits_url: `${api}/git/commits{/sha}`,
    comments_url: `${api}/comments{/number}`,
    issue_comment_url: `${api}/issues/comments{/number}`,
    contents_url: `${api}/contents/{+path}`,
    compare_url: `${api}/compare/{base}...{head}`,
    merges_url: `${api}/merges`,
    archive_url: `${api}/{archive_format}{/ref}`,
    downloads_url: `${api}/downloads`,
    issues_url: `${api}/issues{/number}`,
    pulls_url: `${api}/pulls{/number}`,
    milestones_url: `${api}/milestones{/number}`,
    notifications_url: `${api}/notifications{?since,all,participating}`,
    labels_url: `${api}/labels{/name}`,
    releases_url: `${api}/releases{/id}`,
    deployments_url: `${api}/deployments`,
    git_url: `git://${host}/${fullName(repository)}.git`,
    ssh_url: `git@${host}:${fullName(repository)}.git`,
    clone_url: `${web}.git`,
    svn_url: web,
  }
}
