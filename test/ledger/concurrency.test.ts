import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findChainFault } from '../../domain/index.ts'
import { openSqliteLedger } from '../../ledger/index.ts'
import type { ClientPlan, ClientStep } from './append-client.ts'
import { claimOptions, taskOf } from './samples.ts'

const client = join(import.meta.dirname, 'append-client.ts')

describe('eight clients that append to one task', () => {
  let dataDir: string
  const children: ChildProcess[] = []
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'grokbot-many-'))
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true })
  })

  async function runProcess(plan: ClientPlan): Promise<ClientStep[]> {
    const child = spawn(process.execPath, [client, JSON.stringify(plan)], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const chunks: Buffer[] = []
    child.stdout.on('data', chunk => chunks.push(chunk))
    await once(child, 'close')
    return JSON.parse(Buffer.concat(chunks).toString())
  }

  it('see one order without a gap, in which nothing is lost and nothing happens before it was asked', async () => {
    const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
    await ledger.acceptTask(taskOf('T1'))
    await ledger.claimTask('T1', claimOptions())
    const appends = 60
    const plans = [0, 1, 2, 3].map((number): ClientPlan => {
      const durability = number % 2 === 0 ? 'durable' : 'process'
      return { dataDir, taskId: 'T1', attempt: 1, clients: [`client-${number}-a`, `client-${number}-b`], appends, durability }
    })
    const running = plans.map((plan, index) => (index < 2 ? runProcess(plan) : runThread(plan)))
    for (const client of plans.flatMap(({ clients }) => clients)) {
      while ((await ledger.switch(`ready-${client}`)) === null) await sleep(5)
    }
    await ledger.setSwitch('go', 'yes', 'test')
    const steps = (await Promise.all(running)).flat()
    const events = await ledger.readEvents('T1', 1)
    const { entries } = await ledger.readRecord('T1')
    await ledger.close()

    expect(steps).toHaveLength(8 * appends)
    expect(events.map(({ seq, commandId }) => ({ seq, commandId }))).toEqual(
      steps.map(({ seq, commandId }) => ({ seq, commandId })).sort((a, b) => a.seq - b.seq),
    )
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 8 * appends }, (_, index) => index + 2))
    expect(
      findChainFault(
        'T1',
        entries.map(({ header }) => header),
      ),
    ).toBeNull()
    expect(findRealTimeFault(steps)).toBeNull()
    // Otherwise the clients came one after another and nothing was shown.
    expect(countOverlaps(steps)).toBeGreaterThan(20)
  }, 90_000)
})

/** An append that had ended before another one began must have the lower seq. */
function findRealTimeFault(steps: readonly ClientStep[]): [ClientStep, ClientStep] | null {
  const byEnd = [...steps].sort((a, b) => Number(BigInt(a.endedNs) - BigInt(b.endedNs)))
  for (const later of steps) {
    for (const earlier of byEnd) {
      if (BigInt(earlier.endedNs) >= BigInt(later.startedNs)) break
      if (earlier.seq > later.seq) return [earlier, later]
    }
  }
  return null
}

function countOverlaps(steps: readonly ClientStep[]): number {
  const ordered = [...steps].sort((a, b) => a.seq - b.seq)
  const own = (step: ClientStep | undefined) => step?.commandId.split(':')[0]
  return ordered.filter((step, index) => index > 0 && own(step) !== own(ordered[index - 1])).length
}

async function runThread(plan: ClientPlan): Promise<ClientStep[]> {
  const worker = new Worker(client, { workerData: plan })
  const [steps] = await once(worker, 'message')
  await once(worker, 'exit')
  return steps
}
