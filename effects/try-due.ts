import * as z from 'zod'
import type { EffectRow, Ledger } from '../ledger/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { askedWaitOf } from './asked-wait.ts'
import type { BackOff } from './back-off.ts'
import type { EffectPorts } from './effect-ports.ts'
import { effectsLimits } from './limits.ts'

export type DuePorts = {
  /** By task: who failed is left alone for a while, and keeps no other from its turn. */
  backOff: BackOff
  /** `stopped`: the process goes; what is not settled is read back by the next one. */
  sleep: EffectPorts['sleep']
  /** The same, before anything more is begun. */
  stop: AbortSignal
  logger: Logger
}

/**
 * One try for each task whose wait is over, one after another but for their waits: while one lets the gap between two looks
 * pass, the next one begins, so that a hundred effects that must be looked for twice take one gap and not a hundred.
 * `work` says whether everything of the task is settled, and waits by the `sleep` it is given. Returns how many were tried.
 */
export async function tryDue(
  tasks: Iterable<string>,
  work: (taskId: string, sleep: EffectPorts['sleep']) => Promise<boolean>,
  { backOff, sleep, stop, logger }: DuePorts,
): Promise<number> {
  const due = [...tasks].filter(taskId => backOff.due(taskId))
  const turns = createTurns()
  const tryOne = async (taskId: string) => {
    let leave = await turns.take()
    const sleepAside: EffectPorts['sleep'] = async ms => {
      leave()
      const slept = await sleep(ms)
      leave = await turns.take()
      return slept
    }
    try {
      if (stop.aborted) return
      if (await work(taskId, sleepAside)) backOff.succeeded(taskId)
      else backOff.failed(taskId)
    } catch (error) {
      const waitMs = backOff.failed(taskId, askedWaitOf(error))
      logger.warn({ error, task: taskId, waitMs }, 'an effect could not be settled; it is tried again')
    } finally {
      leave()
    }
  }
  await Promise.all(due.map(tryOne))
  return due.length
}

/** One at a time, in the order they asked. */
function createTurns() {
  let last: Promise<void> = Promise.resolve()
  return {
    async take(): Promise<() => void> {
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      await before
      return resolve
    },
  }
}

type Half = ({ attempt: 'app' } | { attempt: 'worker'; ended: true }) & {
  updatedBefore: number
  /** Of those nobody could say anything about, only what was touched since is looked for again. */
  youngSince: number
  /** How many effects the half prepares for one task. */
  effectsOfTaskMax: number
}

/** The tasks with open effects. */
export async function findOpen(half: Half, ports: OpenPorts): Promise<Set<string>> {
  return new Set((await listOpen(half, ports)).map(({ taskId }) => taskId))
}

/** The same, with the installation each is of. An effect goes to the place its task came from, so a task has one. */
export async function findOpenPlaces(half: Half & { passedOver: number }, ports: OpenPorts): Promise<Map<string, number>> {
  const places = new Map<string, number>()
  for (const { taskId, intent } of await listOpen(half, ports)) {
    const place = Installed.safeParse(intent)
    // Erased between two looks: nothing of it can be done any more.
    if (place.success) places.set(taskId, place.data.installationId)
  }
  return places
}

const Installed = z.object({ installationId: z.int() })

type OpenPorts = { ledger: Pick<Ledger, 'openEffects'>; backOff: BackOff }

/**
 * The limit grows by those that wait and those that were passed over, so that however many of them there are, they hide
 * nobody; and unknown ones have a query of their own, so that they take no place of what is in flight.
 */
async function listOpen(
  { youngSince, effectsOfTaskMax, passedOver = 0, ...half }: Half & { passedOver?: number },
  { ledger, backOff }: OpenPorts,
): Promise<EffectRow[]> {
  const window = { ...half, limit: effectsLimits.openAtOnceMax + (backOff.waiting() + passedOver) * effectsOfTaskMax }
  const inFlight = await ledger.openEffects({ ...window, states: 'in-flight' })
  const unknown = await ledger.openEffects({ ...window, states: 'unknown', updatedAfter: youngSince })
  return [...inFlight, ...unknown]
}
