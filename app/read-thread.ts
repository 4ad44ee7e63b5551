import type { Facts } from '../domain/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { laneOf } from './lane.ts'
import { appLimits } from './limits.ts'
import { readAccepted } from './read-accepted.ts'
import type { Asked } from './read-event.ts'

export type ThreadPorts = {
  ledger: Pick<Ledger, 'tasks' | 'readEvents'>
  /** Ids of bots that may start work. */
  allowedBots: readonly number[]
  now(): number
}

/** What was asked in this thread before, from the ledger. */
export async function readThread(asked: Asked, ports: ThreadPorts): Promise<Pick<Facts, 'lastFailed' | 'botRuns'>> {
  const rows = await ports.ledger.tasks({ laneKey: laneOf(asked), needsWorker: true, limit: appLimits.tasksLookedAtMax })
  const failed = rows.find(({ state, outcome }) => state === 'ended' && outcome !== 'succeeded')
  const first = failed ? await readAccepted(failed.taskId, ports.ledger) : null
  return {
    lastFailed: failed && first ? { taskId: failed.taskId, verb: first.command.verb, text: first.command.text } : null,
    botRuns: ports.allowedBots.includes(asked.actor.id) ? await countBotRuns(rows, ports) : 0,
  }
}

async function countBotRuns(rows: readonly { taskId: string; acceptedAt: number }[], ports: ThreadPorts): Promise<number> {
  const since = ports.now() - appLimits.botWindowMs
  const young = rows.filter(({ acceptedAt }) => acceptedAt > since)
  const firsts = await Promise.all(young.map(({ taskId }) => readAccepted(taskId, ports.ledger)))
  return firsts.filter(first => first !== null && ports.allowedBots.includes(first.requester.id)).length
}
