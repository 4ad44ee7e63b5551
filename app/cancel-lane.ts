import type { TaskAccepted } from '../domain/index.ts'
import { appendBehind, type Ledger } from '../ledger/index.ts'
import { laneOf } from './lane.ts'
import { appLimits } from './limits.ts'
import { readAccepted } from './read-accepted.ts'
import type { Asked, EventRead } from './read-event.ts'

type CancelPorts = { ledger: Ledger; now(): number }
type CancelWords = { by: string; reason: string; kind?: 'closed' }

/** Asks every task of an issue or pull request that was asked for before to stop; their worker sees it within its sweep. */
export async function cancelLane(asked: Asked, commandIndex: number, ports: CancelPorts): Promise<void> {
  const words = { by: `@${asked.actor.login}`, reason: 'asked to stop' }
  await cancelThose(laneOf(asked), task => isBefore(task, asked, commandIndex), words, ports)
}

/** What was asked for after the thread was closed, as in one that was opened again, is left alone: the event may come late. */
export async function closeLane(
  closed: Extract<EventRead, { kind: 'closed' }>['closed'],
  reason: string,
  ports: CancelPorts,
): Promise<void> {
  const closedAt = Date.parse(closed.at ?? '')
  const isMeant = ({ askedAt }: TaskAccepted) => askedAt === undefined || Number.isNaN(closedAt) || Date.parse(askedAt) <= closedAt
  await cancelThose(laneOf(closed), isMeant, { by: `@${closed.actor.login}`, reason, kind: 'closed' }, ports)
}

async function cancelThose(laneKey: string, isMeant: (task: TaskAccepted) => boolean, words: CancelWords, { ledger, now }: CancelPorts) {
  const open = await ledger.tasks({ state: 'open', laneKey, needsWorker: true, limit: appLimits.lanesTasksMax })
  for (const { taskId, cancelRequestedAt } of open) {
    if (cancelRequestedAt !== null) continue
    const accepted = await readAccepted(taskId, ledger)
    if (accepted !== null && isMeant(accepted)) await requestCancel(ledger, taskId, words, now())
  }
}

/**
 * In one text by the order in it. GitHub's clock has whole seconds: of two texts of one kind and of the same second the ids
 * say which came first.
 */
function isBefore({ askedAt, source, command }: TaskAccepted, cancel: Asked, commandIndex: number): boolean {
  const isOfKind = source?.kind === cancel.source.kind
  if (isOfKind && source.id === cancel.source.id) return command.index < commandIndex
  const aheadMs = askedAt === undefined ? 1 : Date.parse(cancel.createdAt) - Date.parse(askedAt)
  return aheadMs === 0 && isOfKind ? source.id < cancel.source.id : aheadMs >= 0
}

/** Appends `cancel.requested`; repeats only when somebody appended in between. False: the task had already ended. */
export async function requestCancel(ledger: Ledger, taskId: string, words: CancelWords, at: number): Promise<boolean> {
  const event = { type: 'cancel.requested', commandId: `${taskId}:cancel`, payload: words } as const
  const batch = { taskId, attempt: 0, actor: words.by, now: () => at, events: [event] }
  const result = await appendBehind(ledger, batch, async () => {
    const row = await ledger.task(taskId)
    return row === null || row.state === 'ended' ? null : row.lastSeq
  })
  return result.kind === 'appended'
}
