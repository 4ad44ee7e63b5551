import type { TaskState } from '../domain/index.ts'
import type { WorkerPorts } from './ports.ts'

/** Where people read about a run, without signing in: its page, its patch, its record. */
export type RunLinks = { page: string; patch: string; bundle: string }

/**
 * Written only into the task's own repository. Null: this installation has no pages, or a private repository keeps its
 * records to itself, which is only known once its configuration was read. The same link on every attempt.
 */
export function runLinks(taskId: string, { accepted, workspace }: TaskState, link: WorkerPorts['link']): RunLinks | null {
  if (link === null || accepted === null || accepted.delivery !== 'github') return null
  const mayShow = accepted.repository.visibility === 'public' || (workspace !== null && workspace.links !== 'artifact')
  if (!mayShow) return null
  const page = link(taskId, accepted.at)
  const beside = (name: string) => page.replace('?', `/${name}?`)
  return { page, patch: beside('change.patch'), bundle: beside('bundle.json') }
}

/** Where the kept patch is, as the end of "the patch is in …" or as a link. */
export function patchWords(taskId: string, links: RunLinks | null, words: string): string {
  return links ? `[${words}](${links.patch})` : `${words}, in ${recordWords(taskId)}`
}

/** Where the operator finds it, with pages or without. */
export function recordWords(taskId: string): string {
  return `the record of this run: \`grokbot runs show ${taskId}\``
}

/** The command that applies it. The address holds a `?`, which a shell would read. */
export function applyWords(links: RunLinks | null): string {
  return links ? `\`curl -fsSL '${links.patch}' | git apply --index\`` : '`git apply --index`'
}

/** For the line below a result; empty where there are no pages. */
export function pageWords(links: RunLinks | null): string {
  return links ? `[Run page](${links.page}) · [receipts](${links.bundle})` : ''
}
