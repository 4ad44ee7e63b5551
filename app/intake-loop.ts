import { askedWaitOf, createBackOff, type RetryLimits, sleepUnlessStopped } from '../effects/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { ignored } from './ignored.ts'
import { type IntakePorts, ignore, takeDelivery } from './intake.ts'
import { appLimits } from './limits.ts'
import { type OutboxLimits, type OutboxPorts, sendOutbox } from './outbox.ts'

export type IntakeLoop = {
  wake(): void
  /**
   * True once everything that was stored when it started has been looked at: taken, or found to need GitHub again. One that
   * fails speaks for all behind it: a hundred that wait ten seconds each must not keep the process from getting more.
   */
  caughtUp(): boolean
  /** UTC milliseconds: when it last looked for deliveries, or was done with one. What waits for a GitHub that hangs has its own end. */
  turnedAt(): number
  /** Ends every wait; resolves when nothing of it runs any more. */
  stop(): Promise<void>
}
export type IntakeLoopPorts = {
  /** False: another process of this data folder sends the app's effects. */
  leadsOutbox(): boolean
  intake: IntakePorts
  outbox: Pick<OutboxPorts, 'github' | 'markerKey'>
  limits(): OutboxLimits & RetryLimits & { deliveryDrainMs: number }
  logger: Logger
}

/**
 * Takes stored deliveries and sends the outbox whenever it is woken, and again and again without being woken: after a
 * restart the first turn does what the process before it left. Two loops: an effect that waits for GitHub keeps no command
 * waiting, above all no cancel.
 */
export function startIntakeLoop(ports: IntakeLoopPorts): IntakeLoop {
  const { intake, logger } = ports
  const stopping = new AbortController()
  const stop = stopping.signal
  const newBackOff = () => createBackOff(ports.limits, intake.now)
  const outbox: OutboxPorts = {
    ...ports.outbox,
    ledger: intake.ledger,
    logger,
    limits: ports.limits,
    backOff: newBackOff(),
    now: intake.now,
    sleep: ms => sleepUnlessStopped(ms, stop),
    stop,
  }
  let caughtUp = false
  let turnedAt = intake.now()
  const turned = () => {
    turnedAt = intake.now()
  }
  const looked = () => {
    caughtUp = true
  }
  const deliveries = { ...ports, backOff: newBackOff(), turned, failed: looked }
  const sending = startTurns(ports, stop, async () => {
    if (ports.leadsOutbox()) await sendOutbox(outbox)
  })
  const taking = startTurns(ports, stop, async () => {
    turned()
    const { taken, due } = await takePending(deliveries, stop)
    if (due < appLimits.deliveriesAtOnceMax) looked()
    if (taken > 0) sending.wake()
  })
  return {
    wake: () => taking.wake(),
    caughtUp: () => caughtUp,
    turnedAt: () => turnedAt,
    async stop() {
      stopping.abort()
      for (const turns of [taking, sending]) turns.wake()
      await Promise.all([taking.ended, sending.ended])
    },
  }
}

/** One turn after another, each when it is woken or `deliveryDrainMs` after the one before. */
function startTurns({ limits, logger }: IntakeLoopPorts, stop: AbortSignal, turn: () => Promise<void>) {
  let wake: () => void = () => undefined
  async function run() {
    while (!stop.aborted) {
      const pause = new AbortController()
      wake = () => pause.abort()
      await turn().catch(error => logger.error({ error }, 'intake failed; it is tried again'))
      if (!stop.aborted) await sleepUnlessStopped(limits().deliveryDrainMs, pause.signal)
    }
  }
  return { wake: () => wake(), ended: run() }
}

type Taking = IntakeLoopPorts & { backOff: OutboxPorts['backOff']; turned(): void; failed(): void }

/** One delivery that fails keeps no other waiting: it stays pending and is tried again, each time after a longer while. */
async function takePending({ intake, limits, backOff, turned, failed, logger }: Taking, stop: AbortSignal) {
  const pending = await intake.ledger.pendingDeliveries(appLimits.deliveriesAtOnceMax + backOff.waiting())
  const due = pending.filter(({ id }) => backOff.due(id))
  let taken = 0
  for (const delivery of due) {
    if (stop.aborted) break
    turned()
    try {
      await takeDelivery(delivery, intake)
      backOff.succeeded(delivery.id)
      taken += 1
    } catch (error) {
      failed()
      // A process that was away for days tries it once more, and waits once: one fault of a moment must not lose a command.
      if (delivery.receivedAt < intake.now() - limits().effectGiveUpMs && backOff.failures(delivery.id) > 0) {
        backOff.succeeded(delivery.id)
        logger.error({ error, delivery: delivery.id }, 'a delivery could not be taken in time and is given up')
        await ignore(delivery, ignored('too-late', 'it could not be taken in time'), intake)
        continue
      }
      const waitMs = backOff.failed(delivery.id, askedWaitOf(error))
      logger.error({ error, delivery: delivery.id, waitMs }, 'a delivery could not be taken; it is tried again')
    }
  }
  return { taken, due: due.length }
}
