import type { Facts } from '../domain/index.ts'
import { type GitHubApp, readBranchSha, readRepository, readRole } from '../github/index.ts'
import type { CommentEvent } from './read-event.ts'

export type FactsPorts = {
  github: GitHubApp
  /** Lower-case owner logins that are served; null = every owner (development only). */
  allowedOwners: readonly string[] | null
  /** Ids of bots that may start work. */
  allowedBots: readonly number[]
  readSwitch(): Promise<'on' | 'pulled'>
}

export type GatheredFacts = {
  facts: Facts
  visibility: 'public' | 'private' | 'internal'
  cloneUrl: string
}

/** Reads what a decision needs, from GitHub's API and the operator's settings only. Throws when GitHub does not answer. */
export async function gatherFacts(event: CommentEvent, operatorProfile: string | null, ports: FactsPorts): Promise<GatheredFacts> {
  const { owner, name: repo, id: repositoryId } = event.repository
  const identity = await ports.github.identity()
  const { token } = await ports.github.mint({
    installationId: event.installationId,
    repositoryId,
    permissions: { metadata: 'read', contents: 'read' },
  })
  const api = ports.github.api(token)
  const repository = await readRepository(api, { owner, repo })
  const roleOf = async (account: CommentEvent['author']) =>
    account?.type === 'User' ? await readRole(api, { owner, repo }, account.login) : 'none'
  const [role, authorRole, baseSha, killSwitch] = await Promise.all([
    roleOf(event.actor),
    event.author?.id === event.actor.id ? null : roleOf(event.author),
    readBranchSha(api, { owner, repo }, repository.defaultBranch),
    ports.readSwitch(),
  ])
  const self = event.actor.login === identity.botLogin
  const facts: Facts = {
    ownerAllowed: isServed(owner, ports),
    actor: { id: event.actor.id, login: event.actor.login, kind: self ? 'self' : event.actor.type === 'User' ? 'user' : 'bot' },
    botAllowed: ports.allowedBots.includes(event.actor.id),
    role,
    subject: event.subject.kind,
    archived: repository.archived,
    locked: event.locked,
    baseSha,
    defaultBranch: repository.defaultBranch,
    killSwitch,
    budget: { kind: 'ok' },
    subjectTrusted: mayWrite(authorRole ?? role),
    operatorProfile,
  }
  return { facts, visibility: repository.visibility, cloneUrl: repository.cloneUrl }
}

export function isServed(owner: string, { allowedOwners }: Pick<FactsPorts, 'allowedOwners'>): boolean {
  return allowedOwners === null || allowedOwners.includes(owner.toLowerCase())
}

function mayWrite(role: Facts['role']): boolean {
  return role === 'write' || role === 'maintain' || role === 'admin'
}
