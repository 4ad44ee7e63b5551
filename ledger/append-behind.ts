import type { AppendBatch, AppendResult, Ledger } from './ledger.ts'
import { ledgerLimits } from './limits.ts'

export type BehindBatch = Omit<AppendBatch, 'expectedSeq' | 'at'> & { now(): number }

export type AppendedBehind =
  /** Fenced: a newer attempt owns the task, or attempt 0 may not write this. Nothing was written, and nothing may be. */
  | Exclude<AppendResult, { kind: 'moved' }>
  /** `expectedSeq` gave null: what stands there now leaves nothing to write. */
  | { kind: 'withdrawn' }

/**
 * Appends behind whatever the task's log ends with. `expectedSeq` is asked before every try: up to where the writer has
 * read and still wants to write, or null when it does not want to any more; `race` counts from 0. Throws what the ledger
 * throws, and after `ledgerLimits.racesMax` lost races.
 */
export async function appendBehind(
  ledger: Pick<Ledger, 'append'>,
  { now, ...batch }: BehindBatch,
  expectedSeq: (race: number) => Promise<number | null> | number | null,
): Promise<AppendedBehind> {
  for (let race = 0; race < ledgerLimits.racesMax; race++) {
    const seq = await expectedSeq(race)
    if (seq === null) return { kind: 'withdrawn' }
    const result = await ledger.append({ ...batch, at: now(), expectedSeq: seq })
    if (result.kind !== 'moved') return result
  }
  throw new Error(`task ${batch.taskId}: an append lost ${ledgerLimits.racesMax} races in a row`)
}
