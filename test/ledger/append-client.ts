import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { openSqliteLedger } from '../../ledger/index.ts'
import { eventOf } from './samples.ts'

/**
 * Two of many writers of one task, each with a connection of its own: each reads on, tries its next event at the end it
 * saw, and says what it was told. Runs as a process of its own or as a thread.
 */
export type ClientPlan = {
  dataDir: string
  taskId: string
  attempt: number
  clients: string[]
  appends: number
  durability: 'durable' | 'process'
}
export type ClientStep = { commandId: string; seq: number; startedNs: string; endedNs: string }

const startWaitMs = 60_000
const plan: ClientPlan = parentPort === null ? JSON.parse(process.argv[2] ?? '') : workerData
const steps = (await Promise.all(plan.clients.map(runClient))).flat()
if (parentPort === null) process.stdout.write(JSON.stringify(steps))
else parentPort.postMessage(steps)

async function runClient(client: string): Promise<ClientStep[]> {
  const ledger = openSqliteLedger({ dataDir: plan.dataDir, durability: plan.durability, clock: Date.now })
  const done: ClientStep[] = []
  let seen = 0
  // All start together, when the last one is ready.
  await ledger.setSwitch(`ready-${client}`, 'yes', 'test')
  const giveUpAt = Date.now() + startWaitMs
  while ((await ledger.switch('go')) === null) {
    if (Date.now() > giveUpAt) throw new Error('nobody said go')
    await sleep(5)
  }
  for (let turn = 0; turn < plan.appends; turn += 1) {
    done.push(await appendOne(`${client}:${turn}`))
    // Gives the word to the others; alone each would be done before the next one wakes.
    await sleep(1)
  }
  await ledger.close()
  return done

  async function appendOne(commandId: string): Promise<ClientStep> {
    const event = eventOf('taint.raised', {}, commandId)
    const { taskId, attempt } = plan
    for (let tries = 0; tries < 100_000; tries += 1) {
      // Monotonic and the same for all processes of the machine.
      const startedNs = process.hrtime.bigint().toString()
      const result = await ledger.append({ taskId, attempt, actor: client, at: 1, expectedSeq: seen, events: [event] })
      if (result.kind === 'fenced') throw new Error('nobody took this task over')
      seen = result.lastSeq
      if (result.kind === 'appended') return { commandId, seq: seen, startedNs, endedNs: process.hrtime.bigint().toString() }
    }
    throw new Error('no append went through')
  }
}
