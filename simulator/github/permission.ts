import { type Account, type Installation, type Level, type Permissions, type Repository, type Role, roles, type Token } from './state.ts'

const levels: readonly Level[] = ['read', 'write', 'admin']

export function grants(permissions: Permissions, name: string, level: Level): boolean {
  const held = permissions[name]
  return held !== undefined && levels.indexOf(held) >= levels.indexOf(level)
}

export function atLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/**
 * Everybody reads a public repository; a private one only those that were given a role. An owner is its admin, unless a
 * role was set for them all the same: a recorded webhook is also played as if its author were somebody else.
 */
export function roleOf(repository: Repository, account: Account): Role {
  const given = repository.roles.get(account.login.toLowerCase())?.role
  if (account.id === repository.owner.id) return given ?? 'admin'
  const anybody: Role = repository.private || account.type === 'Bot' ? 'none' : 'read'
  return given && atLeast(given, anybody) ? given : anybody
}

export function roleNameOf(repository: Repository, account: Account): string {
  return repository.roles.get(account.login.toLowerCase())?.roleName ?? roleOf(repository, account)
}

export function associationOf(repository: Repository, account: Account | null) {
  if (!account) return 'NONE'
  if (account.id === repository.owner.id) return 'OWNER'
  const role = repository.roles.get(account.login.toLowerCase())?.role ?? 'none'
  return role === 'none' ? 'NONE' : 'COLLABORATOR'
}

export function covers(installation: Installation, repository: Repository): boolean {
  if (installation.account.id !== repository.owner.id) return false
  return installation.selection === null || installation.selection.has(repository.id)
}

/** A token sees a repository only if its installation has it and it was not narrowed away. */
export function canSee(token: Token | null, repository: Repository): boolean {
  if (!token) return !repository.private
  if (token.kind === 'user') return atLeast(roleOf(repository, token.actor), 'read')
  return covers(token.installation, repository) && (token.repositoryIds === null || token.repositoryIds.has(repository.id))
}

/** Who may write goes on speaking in a locked conversation; an App never does. */
export function passesLock(repository: Repository, token: Token | null): boolean {
  return token?.kind === 'user' && atLeast(roleOf(repository, token.actor), 'write')
}

/** An App's write permission lets it change what others wrote too, as it does a person with the write role. */
export function mayChange(repository: Repository, token: Token | null, author: Account | null): boolean {
  if (token?.kind === 'installation') return true
  return token !== null && (author?.id === token.actor.id || atLeast(roleOf(repository, token.actor), 'write'))
}

/** What role a person needs for what an App needs a permission for. */
export function roleFor(name: string, level: Level): Role {
  if (level === 'read') return 'read'
  if (name === 'issues' || name === 'pull_requests') return 'read'
  return name === 'administration' ? 'admin' : 'write'
}
