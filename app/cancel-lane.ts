import { appendBehind, type Ledger } from '../ledger/index.ts'
import { laneOf } from './lane.ts'
import { appLimits } from './limits.ts'
import { readAccepted } from './read-accepted.ts'
import type { Asked, EventRead } from './read-event.ts'

type CancelPorts = { ledger: Ledger; now(): number }

/** Asks every task of an issue or pull request that was asked for before to stop; their worker sees it within its sweep. */
export async function cancelLane(asked: Asked, { ledger, now }: CancelPorts): Promise<void> {
  const [laneKey, words] = [laneOf(asked), { by: `@${asked.actor.login}`, reason: 'asked to stop' }]
  for (const state of ['running', 'waiting'] as const) {
    for (const { taskId } of await ledger.tasks({ state, laneKey, needsWorker: true, limit: appLimits.lanesTasksMax })) {
      if (await isOlder(taskId, asked, ledger)) await requestCancel(ledger, taskId, words, now())
    }
  }
}

/** What was accepted after the thread was closed, as in one that was opened again, is left alone: the event may come late. */
export async function closeLane(
  closed: Extract<EventRead, { kind: 'closed' }>['closed'],
  reason: string,
  { ledger, now }: CancelPorts,
): Promise<void> {
  const by = `@${closed.actor.login}`
  const acceptedBefore = (closed.at === null ? now() : Date.parse(closed.at)) + appLimits.clockMarginMs
  const request = { laneKey: laneOf(closed), acceptedBefore, cancel: { by, reason, kind: 'closed' }, actor: by, at: now() } as const
  for (let turn = 0; turn < appLimits.closeTurnsMax; turn++) if ((await ledger.cancelLane(request)).length === 0) return
}

/** GitHub's clock has whole seconds; of two comments of the same one, the ids say which came first. */
async function isOlder(taskId: string, { createdAt, source }: Asked, ledger: Ledger): Promise<boolean> {
  const accepted = await readAccepted(taskId, ledger)
  if (accepted === null) return false
  const { askedAt, commentId } = accepted
  if (askedAt === createdAt && source.kind === 'comment' && commentId !== null) return commentId <= source.id
  return askedAt === undefined || askedAt <= createdAt
}

/** Appends `cancel.requested`; repeats only when somebody appended in between. False: the task had already ended. */
export async function requestCancel(ledger: Ledger, taskId: string, words: { by: string; reason: string }, at: number): Promise<boolean> {
  const event = { type: 'cancel.requested', commandId: `${taskId}:cancel`, payload: words } as const
  const batch = { taskId, attempt: 0, actor: words.by, now: () => at, events: [event] }
  const result = await appendBehind(ledger, batch, async () => {
    const row = await ledger.task(taskId)
    return row === null || row.state === 'ended' ? null : row.lastSeq
  })
  return result.kind === 'appended'
}
