import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteLedger } from '../../ledger/index.ts'
import type { BudgetPlan } from './budget-client.ts'

const client = join(import.meta.dirname, 'budget-client.ts')

describe('processes that accept tasks under one budget at the same time', () => {
  let dataDir: string
  const children: ChildProcess[] = []
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'grokbot-budget-'))
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true })
  })

  async function openClient(plan: BudgetPlan): Promise<() => Promise<string[]>> {
    const child = spawn(process.execPath, [client, JSON.stringify(plan)], { stdio: ['pipe', 'pipe', 'inherit'] })
    children.push(child)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    await lines.next()
    return async () => {
      child.stdin.write('go\n')
      return JSON.parse((await lines.next()).value ?? '[]')
    }
  }

  it('never reserve more than there is, and all of it', async () => {
    const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
    const plan = { dataDir, tasks: 30, microUsd: 7, limitMicroUsd: 400 }
    const starts = await Promise.all(['a', 'b', 'c', 'd'].map(name => openClient({ ...plan, client: name })))
    const accepted = await Promise.all(starts.map(start => start()))
    const { reservedMicroUsd } = await ledger.budget('repository:42:2027-01-15')
    const tasks = await ledger.tasks({ limit: 200 })
    await ledger.close()
    expect({ reservedMicroUsd, accepted: accepted.flat().length }).toEqual({ reservedMicroUsd: 399, accepted: 57 })
    expect(tasks.map(({ taskId }) => taskId).sort()).toEqual(accepted.flat().sort())
    // Otherwise they came one after another and nothing was shown.
    expect(accepted.filter(ids => ids.length > 0).length).toBeGreaterThan(1)
  }, 60_000)
})
