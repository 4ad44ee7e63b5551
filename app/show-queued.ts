import { type EffectProposal, effectId, preparedEvent } from '../effects/index.ts'
import { appendBehind, type Ledger, type TaskRow } from '../ledger/index.ts'
import { appLimits } from './limits.ts'
import type { Decided } from './propose-task.ts'
import { renderQueued } from './render-queued.ts'

export type QueuedPorts = {
  ledger: Pick<Ledger, 'append' | 'effect' | 'readEvents' | 'runsAhead' | 'task' | 'tasks'>
  /** Where people read about a task; null: this installation has no pages. */
  link: ((taskId: string, acceptedAt: number) => string) | null
  now(): number
}

/**
 * Prepares the one comment of a task that has to wait for others: from its start on its worker edits the same one, so that
 * the thread is told once. Nothing is ahead, or it was begun already: then its worker makes the comment, when it takes long.
 */
export async function showQueued(
  taskId: string,
  { asked, gathered, verb }: Pick<Decided, 'asked' | 'gathered'> & { verb: string },
  prefix: string,
  { ledger, link, now }: QueuedPorts,
): Promise<void> {
  const ahead = (await ledger.runsAhead(taskId))?.repository ?? 0
  if (ahead === 0 || (await ledger.effect(effectId(taskId, { kind: 'progress', ordinal: 1 })))) return
  const { id: repositoryId, owner, name } = asked.repository
  const usualMs = await usualRunMs(`${owner}/${name}`, { ledger })
  const acceptedAt = (await ledger.task(taskId))?.acceptedAt
  // A private repository may keep its pages to itself, which nobody knows before its configuration was read.
  const page = acceptedAt !== undefined && gathered.visibility === 'public' ? (link?.(taskId, acceptedAt) ?? null) : null
  const body = renderQueued({ asked, facts: gathered.facts, ahead, usualMs, verb, prefix, page, now: now() })
  const place = { owner, repo: name, repositoryId, installationId: asked.installationId }
  const intent = { ...place, number: asked.subject.number, since: asked.createdAt, commentId: null, body }
  const proposal: EffectProposal = { kind: 'progress', ordinal: 1, intent }
  const batch = { taskId, attempt: 0, actor: 'app', now, events: [preparedEvent(taskId, proposal)] }
  // A worker that has it by now says so itself.
  await appendBehind(ledger, batch, async () => {
    const row = await ledger.task(taskId)
    return row?.state === 'waiting' ? row.lastSeq : null
  })
}

/** The median of the newest runs of this repository that went to an end of their own; null = there is none to judge by. */
async function usualRunMs(repository: string, { ledger }: Pick<QueuedPorts, 'ledger'>): Promise<number | null> {
  const ended = await ledger.tasks({ state: 'ended', needsWorker: true, limit: appLimits.tasksLookedAtMax })
  const own = ended.filter(row => row.repository === repository && (row.outcome === 'succeeded' || row.outcome === 'failed'))
  const took = await Promise.all(own.slice(0, appLimits.runsJudgedByMax).map(row => runMs(row, { ledger })))
  const known = took.filter(ms => ms !== null).sort((one, other) => one - other)
  return known[Math.floor(known.length / 2)] ?? null
}

async function runMs({ taskId, endedAt }: TaskRow, { ledger }: Pick<QueuedPorts, 'ledger'>): Promise<number | null> {
  const first = await ledger.readEvents(taskId, 0, appLimits.firstEventsMax)
  const startedAt = first.find(({ type }) => type === 'attempt.started')?.at
  return startedAt === undefined || endedAt === null ? null : endedAt - startedAt
}
