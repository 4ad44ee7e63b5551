import { covers } from './permission.ts'
import type { Account, GitHubState, Installation, Permissions, Repository } from './state.ts'

export function install(state: GitHubState, account: Account, id: number = state.nextId()): Installation {
  const { permissions, events } = state.app
  const installation: Installation = {
    id,
    account,
    permissions: { ...permissions },
    events,
    selection: null,
    suspendedAt: null,
    createdAt: state.now(),
  }
  state.installations.set(id, installation)
  return installation
}

export function findInstallation(state: GitHubState, repository: Repository): Installation | undefined {
  return [...state.installations.values()].find(each => covers(each, repository))
}

export function coveredBy(state: GitHubState, installation: Installation): Repository[] {
  return [...state.repositories.values()].filter(each => covers(installation, each))
}

export function requireInstallation(state: GitHubState, owner: string): Installation {
  const installation = [...state.installations.values()].find(each => each.account.login.toLowerCase() === owner.toLowerCase())
  if (!installation) throw new Error(`the App is not installed on ${owner}`)
  return installation
}

export type InstallationChange = { permissions?: Permissions; repositories?: Repository[] | null; suspended?: boolean; sender: Account }

/** What an owner sets in the App's settings; each part has its event. */
export function changeInstallation(state: GitHubState, installation: Installation, change: InstallationChange): void {
  const { sender } = change
  if (change.permissions) installation.permissions = change.permissions
  if (change.suspended !== undefined && change.suspended !== (installation.suspendedAt !== null)) {
    installation.suspendedAt = change.suspended ? state.now() : null
    state.emit({ event: 'installation', action: change.suspended ? 'suspend' : 'unsuspend', installation, sender })
  }
  if (change.repositories === undefined) return
  const before = coveredBy(state, installation)
  installation.selection = change.repositories && new Set(change.repositories.map(each => each.id))
  const after = coveredBy(state, installation)
  const removed = before.filter(each => !after.includes(each))
  const added = after.filter(each => !before.includes(each))
  const event = 'installation_repositories'
  if (removed.length > 0) state.emit({ event, action: 'removed', installation, repositories: removed, sender })
  if (added.length > 0) state.emit({ event, action: 'added', installation, repositories: added, sender })
}

/** Its tokens are worth nothing from now on. */
export function uninstall(state: GitHubState, installation: Installation, sender: Account): void {
  state.emit({ event: 'installation', action: 'deleted', installation, sender })
  state.installations.delete(installation.id)
  for (const [value, token] of state.tokens)
    if (token.kind === 'installation' && token.installation.id === installation.id) state.tokens.delete(value)
}
