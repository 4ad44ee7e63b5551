import { expect } from 'vitest'
import type { NewEvent } from '../../domain/index.ts'
import type { Claim, Ledger } from '../../ledger/index.ts'
import { claimOptions, startedAt, taskOf } from './samples.ts'

export type LedgerScene = {
  ledger: Ledger
  /** Another connection to the same data. */
  other: Ledger
  /** Moves the clock that both were opened with. */
  setClock(at: number): void
  close(): Promise<void>
}

/** The scene of the test that is running. */
export type Each = { of(): LedgerScene }

/** Accepts a task and takes it. */
export async function running(ledger: Ledger, taskId = 'T1'): Promise<Claim> {
  await ledger.acceptTask(taskOf(taskId))
  const claim = await ledger.claimTask(taskId, claimOptions())
  if (claim === null) throw new Error('the task could not be claimed')
  return claim
}

export function batch(attempt: number, expectedSeq: number, events: NewEvent[], taskId = 'T1') {
  return { taskId, attempt, actor: attempt === 0 ? 'app' : 'worker:1', at: startedAt + expectedSeq, expectedSeq, events }
}

export const assertion = (message: string) =>
  expect.objectContaining({ name: 'LedgerAssertion', message: expect.stringContaining(message) })
