import type { Account, Repository } from './state.ts'

/** Every URL the fake prints is made here, in the layout of GitHub Enterprise Server: `/api/v3` beside the web pages. */
export type Links = { api: string; web: string }

export function createLinks(origin: string): Links {
  return { api: `${origin}/api/v3`, web: origin }
}

export function repositoryApi(links: Links, repository: Repository): string {
  return `${links.api}/repos/${repository.owner.login}/${repository.name}`
}

export function repositoryWeb(links: Links, repository: Repository): string {
  return `${links.web}/${repository.owner.login}/${repository.name}`
}

export function accountApi(links: Links, account: Account): string {
  return `${links.api}/users/${encodeURIComponent(account.login)}`
}

export function nodeId(prefix: string, id: number): string {
  return `${prefix}_${Buffer.from(`${prefix}:${id}`).toString('base64url')}`
}

export function time(at: number): string {
  return new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
