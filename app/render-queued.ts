import type { Facts } from '../domain/index.ts'
import type { Asked } from './read-event.ts'

export type QueuedView = {
  asked: Pick<Asked, 'actor'>
  facts: Pick<Facts, 'baseSha' | 'defaultBranch' | 'pull'>
  /** Runs of the repository that come first. */
  ahead: number
  /** How long one of them usually takes, in milliseconds; null = nobody knows. */
  usualMs: number | null
  verb: string
  prefix: string
  page: string | null
  now: number
}

/** The comment of a task that waits, in the words its worker goes on with. */
export function renderQueued({ asked, facts, ahead, usualMs, verb, prefix, page, now }: QueuedView): string {
  const { pull, baseSha, defaultBranch } = facts
  const minutes = usualMs === null ? '' : `, about ${Math.max(1, Math.round((usualMs * ahead) / 60_000))} min`
  const [what, ref, sha] = pull ? ['Head', pull.headRef, pull.headSha] : ['Base', defaultBranch, baseSha ?? '']
  return [
    `**grok ${verb}** — queued, ${ahead} ${ahead === 1 ? 'run' : 'runs'} ahead in this repository${minutes}`,
    '',
    `Asked by @${asked.actor.login}. ${what} \`${ref.replace(/[`\r\n]/g, ' ')}\` at \`${sha.slice(0, 7)}\`. ${page ? `[Run page](${page}) · ` : ''}\`${prefix} cancel\` stops it`,
    `<sub>as of ${new Date(now).toISOString().slice(11, 16)} UTC</sub>`,
  ].join('\n')
}
