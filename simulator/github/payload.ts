import { type Links, nodeId } from './links.ts'
import { covers } from './permission.ts'
import { readPullFacts } from './pull-facts.ts'
import { renderAccount } from './render/account.ts'
import { renderInstallation } from './render/app.ts'
import { renderComment, renderIssue } from './render/issue.ts'
import { renderPull } from './render/pull.ts'
import { renderRepository } from './render/repository.ts'
import { type Account, type GitHubState, type Repository, requireAccount, requireIssue, requireRepository } from './state.ts'

/** Bodies of webhooks, made from the fake's state at this moment, in the shape GitHub sends. */
export type Payloads = ReturnType<typeof createPayloads>

type Thread = { repo: string; number: number; sender?: string }
type CommentRef = { repo: string; commentId: number; sender?: string }

export function createPayloads(state: GitHubState, links: Links) {
  const common = (repository: Repository, sender: Account | null) => commonFields(state, links, repository, sender)
  return {
    issueComment(action: 'created' | 'edited' | 'deleted', given: CommentRef) {
      const repository = requireRepository(state, given.repo)
      const comment = repository.comments.get(given.commentId)
      if (!comment) throw new Error(`${given.repo} has no comment ${given.commentId}`)
      const issue = requireIssue(repository, comment.issueNumber)
      const sender = given.sender === undefined ? comment.author : requireAccount(state, given.sender)
      const before = comment.versions.at(-2)?.body
      return {
        action,
        ...(action === 'edited' ? { changes: { body: { from: before ?? '' } } } : {}),
        issue: renderIssue(state, links, repository, issue),
        comment: renderComment(state, links, repository, comment),
        ...common(repository, sender),
      }
    },
    issues(action: 'opened' | 'edited' | 'closed' | 'reopened', given: Thread) {
      const repository = requireRepository(state, given.repo)
      const issue = requireIssue(repository, given.number)
      const sender = given.sender === undefined ? issue.author : requireAccount(state, given.sender)
      const changes = action === 'edited' ? { changes: {} } : {}
      return { action, ...changes, issue: renderIssue(state, links, repository, issue), ...common(repository, sender) }
    },
    async pullRequest(
      action: 'opened' | 'edited' | 'closed' | 'reopened' | 'synchronize' | 'ready_for_review',
      given: Thread & { before?: string },
    ) {
      const repository = requireRepository(state, given.repo)
      const issue = requireIssue(repository, given.number)
      const { pull } = issue
      if (!pull) throw new Error(`${given.repo}#${given.number} is no pull request`)
      const sender = given.sender === undefined ? issue.author : requireAccount(state, given.sender)
      const facts = await readPullFacts(repository, pull)
      return {
        action,
        number: given.number,
        ...(action === 'synchronize' ? { before: given.before ?? pull.base.sha, after: pull.head.sha } : {}),
        ...(action === 'edited' ? { changes: {} } : {}),
        pull_request: renderPull({ state, links, repository, issue, pull }, facts),
        ...common(repository, sender),
      }
    },
    installation(action: 'created' | 'deleted' | 'suspend' | 'unsuspend', given: { owner: string; sender?: string }) {
      const account = requireAccount(state, given.owner)
      const installation = [...state.installations.values()].find(each => each.account.id === account.id)
      if (!installation) throw new Error(`${given.owner} has no installation`)
      const repositories = [...state.repositories.values()].filter(each => covers(installation, each))
      return {
        action,
        installation: renderInstallation(links, state.app, installation),
        repositories: repositories.map(each => {
          const { id, node_id, name, full_name, private: isPrivate } = renderRepository(links, each)
          return { id, node_id, name, full_name, private: isPrivate }
        }),
        requester: null,
        sender: renderAccount(links, given.sender === undefined ? account : requireAccount(state, given.sender)),
      }
    },
    ping() {
      return {
        zen: 'Keep it logically awesome.',
        hook_id: state.app.id,
        hook: {
          type: 'App',
          id: state.app.id,
          name: 'web',
          active: true,
          events: state.app.events,
          app_id: state.app.id,
          config: { content_type: 'json', insecure_ssl: '0' },
        },
        sender: renderAccount(links, state.app.owner),
      }
    },
  }
}

function commonFields(state: GitHubState, links: Links, repository: Repository, sender: Account | null) {
  const installation = [...state.installations.values()].find(each => covers(each, repository))
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
