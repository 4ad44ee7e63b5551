import { type Facts, hasRole } from '../domain/index.ts'
import { type GitHubApp, type PullFacts, readBranchSha, readPull, readRepository, readRole } from '../github/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import type { Asked } from './read-event.ts'
import { readThread, type ThreadPorts } from './read-thread.ts'

export type FactsPorts = ThreadPorts & {
  github: GitHubApp
  /** Lower-case owner logins that are served; null = every owner (development only). */
  allowedOwners: readonly string[] | null
  readSwitch(): Promise<'on' | 'pulled'>
}

export type GatheredFacts = {
  facts: Facts
  visibility: 'public' | 'private' | 'internal'
  cloneUrl: string
}

/** Reads what a decision needs, from GitHub's API, the ledger and the operator's settings only. Throws when one does not answer. */
export async function gatherFacts(asked: Asked, operatorProfile: string | null, ports: FactsPorts): Promise<GatheredFacts> {
  const { owner, name: repo, id: repositoryId } = asked.repository
  const identity = await ports.github.identity()
  const isPull = asked.subject.kind === 'pull'
  const { token } = await ports.github.mint({
    installationId: asked.installationId,
    repositoryId,
    permissions: { metadata: 'read', contents: 'read', ...(isPull ? { pull_requests: 'read' } : {}) },
  })
  const api = ports.github.api(token)
  const repository = await readRepository(api, { owner, repo })
  const roleOf = async (account: Asked['author']): Promise<Facts['role']> =>
    account?.type === 'User' ? await readRole(api, { owner, repo }, account) : 'none'
  const botAllowed = ports.allowedBots.includes(asked.actor.id)
  const [role, authorRole, baseSha, pull, killSwitch, thread] = await Promise.all([
    // An App has no role of its own: the operator who lists it lets it write.
    botAllowed ? ('write' as const) : roleOf(asked.actor),
    asked.author?.id === asked.actor.id ? null : roleOf(asked.author),
    readBranchSha(api, { owner, repo }, repository.defaultBranch),
    isPull ? readPull(api, { owner, repo }, asked.subject.number) : null,
    ports.readSwitch(),
    readThread(asked, ports),
  ])
  crashpoint('intake.factsRead')
  const self = asked.actor.login === identity.botLogin
  const facts: Facts = {
    ownerAllowed: isServed(owner, ports),
    actor: { id: asked.actor.id, login: asked.actor.login, kind: self ? 'self' : asked.actor.type === 'User' ? 'user' : 'bot' },
    botAllowed,
    role,
    subject: asked.subject.kind,
    pull: pull satisfies PullFacts | null,
    ...thread,
    archived: repository.archived,
    locked: asked.locked,
    baseSha,
    defaultBranch: repository.defaultBranch,
    killSwitch,
    subjectTrusted: hasRole(authorRole ?? role, 'write'),
    operatorProfile,
  }
  return { facts, visibility: repository.visibility, cloneUrl: repository.cloneUrl }
}

export function isServed(owner: string, { allowedOwners }: Pick<FactsPorts, 'allowedOwners'>): boolean {
  return allowedOwners === null || allowedOwners.includes(owner.toLowerCase())
}
