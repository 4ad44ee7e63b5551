import { askedWaitOf, type BackOff, createBackOff, sleepUnlessStopped } from '../effects/index.ts'
import { classifyError, type HookDeliveries, type HookDelivery } from '../github/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { appLimits } from './limits.ts'
import { isServedAction } from './served-events.ts'

export type DeliverySweepPorts = {
  /** False: another process of this data folder does it. */
  leads(): boolean
  /** A page of the App's deliveries, newest first. Throws what Octokit throws. */
  list(cursor: string | null): Promise<HookDeliveries>
  redeliver(id: string): Promise<void>
  ledger: Pick<Ledger, 'knowsDelivery'>
  limits(): { deliveriesSweepMs: number; deliveriesLookBackMs: number; sweepMs: number; rateLimitWaitMsMax: number }
  meter?: DeliverySweepMeter
  now(): number
  logger: Logger
}

export type DeliverySweepMeter = { swept(result: 'done' | 'failed'): void; redelivered(): void }

/** What the sweeps of one process remember. A new process knows nothing and looks back as far as it may. */
type Memory = {
  /** What was not read yet, the newest last: from a page on down to a time. */
  walks: { cursor: string | null; until: number }[]
  /** The newest attempt that was read; null: none. */
  readUpTo: number | null
  failed: Map<string, Failed>
  /** GUIDs that need nothing more, and since when: their failed attempts may be listed behind this, and are read again. */
  over: Map<string, number>
  backOff: BackOff
  quietUntil: number
}

/** `id`: the newest attempt. */
type Failed = { id: string; firstAt: number; lastAt: number }

/**
 * GitHub brings a delivery once and does not try again. So the App's own list of deliveries is read, at the start and then
 * again and again, and each that failed (no attempt was answered 2xx), is one of our events and is not in the ledger is asked
 * for once more, after growing waits. Failed ones only: a delivery that was answered 2xx and is in no ledger, as after an older
 * copy of the data folder was put back, is not looked for.
 */
export function startDeliverySweep(ports: DeliverySweepPorts): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const sweep = createDeliverySweep(ports)
  async function run() {
    while (!stopping.signal.aborted) {
      const isOurs = ports.leads()
      if (isOurs) await sweep(stopping.signal)
      const { deliveriesSweepMs, sweepMs } = ports.limits()
      // Who does not lead looks more often whether it does by now.
      await sleepUnlessStopped(isOurs ? deliveriesSweepMs : Math.min(sweepMs, deliveriesSweepMs), stopping.signal)
    }
  }
  const ended = run()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** One sweep a call; never throws. GitHub that is away, or refuses the App, is the next sweep's. */
export function createDeliverySweep(ports: DeliverySweepPorts): (stop: AbortSignal) => Promise<void> {
  const waits = () => ({
    retryWaitMs: ports.limits().deliveriesSweepMs,
    retryWaitMsMax: appLimits.redeliveryWaitMsMax,
    rateLimitWaitMsMax: ports.limits().rateLimitWaitMsMax,
  })
  const backOff = createBackOff(waits, ports.now)
  const memory: Memory = { walks: [], readUpTo: null, failed: new Map(), over: new Map(), backOff, quietUntil: 0 }
  return async stop => {
    if (ports.now() < memory.quietUntil) return
    try {
      await readNew(memory, ports, stop)
      await redeliverDue(memory, ports, stop)
      ports.meter?.swept('done')
    } catch (error) {
      memory.quietUntil = ports.now() + Math.min(askedWaitOf(error) ?? 0, ports.limits().rateLimitWaitMsMax)
      // A cursor that GitHub does not take any more would be refused for ever.
      if (isRefused(error)) Object.assign(memory, { walks: [], readUpTo: null })
      ports.logger.warn({ error }, 'failed deliveries could not be looked for; the next sweep tries again')
      ports.meter?.swept('failed')
    }
  }
}

/** What was asked for is refused, and not the App as such. */
function isRefused(error: unknown): boolean {
  const fault = classifyError(error)
  return fault.kind === 'rejected' && fault.status !== 401 && fault.status !== 403
}

async function readNew(memory: Memory, ports: DeliverySweepPorts, stop: AbortSignal): Promise<void> {
  const { walks, failed, over } = memory
  const oldest = oldestOf(ports)
  for (const [guid, at] of over) if (at < oldest) over.delete(guid)
  const until = memory.readUpTo === null ? oldest : memory.readUpTo - appLimits.deliveriesOverlapMs
  if (walks.at(-1)?.cursor !== null) walks.push({ cursor: null, until })
  for (let pages = 0; pages < appLimits.deliveryPagesMax && !stop.aborted; pages += 1) {
    const walk = walks.at(-1)
    // What is not kept in mind must not count as read.
    if (walk === undefined || failed.size >= appLimits.failedDeliveriesMax) return
    const { deliveries, next } = await ports.list(walk.cursor)
    for (const attempt of deliveries) note(attempt, memory)
    const [newest, last] = [deliveries[0], deliveries.at(-1)]
    if (walk.cursor === null && newest) memory.readUpTo = newest.deliveredAt
    if (next === null || last === undefined || last.deliveredAt < Math.max(walk.until, oldest)) walks.pop()
    else walk.cursor = next
  }
}

function oldestOf({ now, limits }: DeliverySweepPorts): number {
  return now() - limits().deliveriesLookBackMs
}

/** An attempt that was answered 2xx counts for every other of its GUID, whichever is read first. */
function note({ id, guid, deliveredAt, event, action, statusCode, redelivery }: HookDelivery, { failed, over }: Memory): void {
  if (!isServedAction(event, action)) return
  if (statusCode >= 200 && statusCode < 300) {
    failed.delete(guid)
    // What was brought at first has no failed attempt behind it.
    if (redelivery) over.set(guid, deliveredAt)
  } else if (!over.has(guid)) {
    const known = failed.get(guid) ?? { id, firstAt: deliveredAt, lastAt: deliveredAt }
    const isNewer = deliveredAt > known.lastAt
    failed.set(guid, {
      id: isNewer ? id : known.id,
      firstAt: Math.min(known.firstAt, deliveredAt),
      lastAt: Math.max(known.lastAt, deliveredAt),
    })
  }
}

/** The oldest first, so that commands come in the order in which they were given. */
async function redeliverDue({ failed, over, backOff }: Memory, ports: DeliverySweepPorts, stop: AbortSignal): Promise<void> {
  const oldest = oldestOf(ports)
  let asked = 0
  for (const [guid, { id, firstAt }] of [...failed].sort(([, one], [, other]) => one.firstAt - other.firstAt)) {
    if (stop.aborted || asked >= appLimits.redeliveriesMax) return
    const isOver = firstAt < oldest || (await ports.ledger.knowsDelivery(guid))
    if (!isOver && !backOff.due(guid)) continue
    if (isOver || !(await askAgain(guid, id, ports))) {
      failed.delete(guid)
      over.set(guid, ports.now())
      backOff.succeeded(guid)
      continue
    }
    backOff.failed(guid)
    asked += 1
  }
}

/** False: GitHub does not have it any more. */
async function askAgain(guid: string, id: string, { redeliver, meter, logger }: DeliverySweepPorts): Promise<boolean> {
  try {
    await redeliver(id)
  } catch (error) {
    if (!isRefused(error)) throw error
    logger.warn({ error, delivery: guid }, 'GitHub does not bring a failed delivery again')
    return false
  }
  logger.info({ delivery: guid }, 'GitHub was asked to bring a failed delivery again')
  meter?.redelivered()
  return true
}
