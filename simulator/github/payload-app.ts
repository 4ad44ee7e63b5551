import { coveredBy, requireInstallation } from './installation.ts'
import type { Links } from './links.ts'
import { commonFields } from './payload-common.ts'
import { renderAccount } from './render/account.ts'
import { renderInstallation } from './render/app.ts'
import { renderHookCheckRun } from './render/check-run.ts'
import { renderRepository } from './render/repository.ts'
import { type GitHubState, type Installation, type Repository, requireAccount, requireRepository } from './state.ts'

type CheckRunAction = 'created' | 'completed' | 'rerequested' | 'requested_action'

/** Webhooks of what belongs to the App: its check runs and its installations. */
export function createAppPayloads(state: GitHubState, links: Links) {
  const installed = (installation: Installation, sender: string | undefined) => ({
    installation: renderInstallation(links, state.app, installation),
    requester: null,
    sender: renderAccount(links, sender === undefined ? installation.account : requireAccount(state, sender)),
  })
  const names = (repositories: Repository[]) =>
    repositories.map(each => {
      const { id, node_id, name, full_name, private: isPrivate } = renderRepository(links, each)
      return { id, node_id, name, full_name, private: isPrivate }
    })
  return {
    async checkRun(action: CheckRunAction, given: { repo: string; checkRunId: number; identifier?: string; sender?: string }) {
      const repository = requireRepository(state, given.repo)
      const checkRun = repository.checkRuns.get(given.checkRunId)
      if (!checkRun) throw new Error(`${given.repo} has no check run ${given.checkRunId}`)
      const sender = requireAccount(state, given.sender ?? `${state.app.slug}[bot]`)
      const common = commonFields(state, links, repository, sender)
      return {
        action,
        check_run: await renderHookCheckRun(state, links, repository, checkRun, action === 'rerequested'),
        ...(action === 'requested_action' ? { requested_action: { identifier: given.identifier ?? '' } } : {}),
        ...common,
      }
    },
    installation(action: 'created' | 'deleted' | 'suspend' | 'unsuspend', given: { owner: string; sender?: string }) {
      const installation = requireInstallation(state, given.owner)
      return { action, repositories: names(coveredBy(state, installation)), ...installed(installation, given.sender) }
    },
    installationRepositories(action: 'added' | 'removed', given: { owner: string; repos: string[]; sender?: string }) {
      const installation = requireInstallation(state, given.owner)
      const moved = names(given.repos.map(name => requireRepository(state, name)))
      return {
        action,
        repository_selection: installation.selection ? 'selected' : 'all',
        repositories_added: action === 'added' ? moved : [],
        repositories_removed: action === 'removed' ? moved : [],
        ...installed(installation, given.sender),
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
