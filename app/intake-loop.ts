import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../telemetry/index.ts'
import { type IntakePorts, takeDelivery } from './intake.ts'
import { type OutboxPorts, sendOutbox } from './outbox.ts'

export type IntakeLoop = { wake(): void; stop(): Promise<void> }
export type IntakeLoopPorts = {
  /** False: another process of this data folder sends the app's effects. */
  leadsOutbox(): boolean
  intake: IntakePorts
  outbox: OutboxPorts
  drainMs(): Promise<number>
  logger: Logger
}

const deliveriesAtOnceMax = 100
const drainRetryMs = 1_000

/**
 * Takes stored deliveries and sends the outbox whenever it is woken, and again and again without being woken: after a
 * restart the first turn does what the process before it left.
 */
export function startIntakeLoop(ports: IntakeLoopPorts): IntakeLoop {
  let stopped = false
  let wake: () => void = () => undefined
  async function run() {
    while (!stopped) {
      const woken = new Promise<void>(resolve => {
        wake = resolve
      })
      await turn(ports).catch(error => ports.logger.error({ error }, 'intake failed; it is tried again'))
      if (!stopped) await Promise.race([woken, sleep(await ports.drainMs().catch(() => drainRetryMs))])
    }
  }
  const running = run()
  return {
    wake: () => wake(),
    async stop() {
      stopped = true
      wake()
      await running
    },
  }
}

/** One delivery that fails keeps no other waiting: it stays pending and is tried again at the next turn. */
async function turn({ intake, outbox, leadsOutbox, logger }: IntakeLoopPorts): Promise<void> {
  const pending = await intake.ledger.pendingDeliveries(deliveriesAtOnceMax)
  for (const delivery of pending) {
    try {
      await takeDelivery(delivery, intake)
    } catch (error) {
      logger.error({ error, delivery: delivery.id }, 'a delivery could not be taken; it is tried again')
    }
  }
  try {
    if (leadsOutbox()) await sendOutbox(outbox)
  } catch (error) {
    logger.error({ error }, 'the outbox could not be sent; it is tried again')
  }
}
