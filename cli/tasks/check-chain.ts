import { type ChainFault, findChainFault, hashPayload } from '../../domain/index.ts'
import type { LedgerRecord } from '../../ledger/index.ts'

export type ChainCheck =
  | { kind: 'verifies'; events: number; erased: number; headHash: string | null }
  | { kind: 'broken'; seq: number; reason: ChainFault['reason'] | 'payload' }

/** Every header against the one before it, and every payload that is still there against its header. */
export function checkChain({ taskId, entries }: LedgerRecord): ChainCheck {
  const fault = findChainFault(
    taskId,
    entries.map(entry => entry.header),
  )
  const changed = entries.find(({ header, salt, payload }) => salt && payload && hashPayload(salt, payload) !== header.payloadHash)
  if (fault && (!changed || fault.seq <= changed.header.seq)) return { kind: 'broken', ...fault }
  if (changed) return { kind: 'broken', seq: changed.header.seq, reason: 'payload' }
  const erased = entries.filter(entry => entry.payload === null).length
  return { kind: 'verifies', events: entries.length, erased, headHash: entries.at(-1)?.header.hash ?? null }
}

export function chainText(check: ChainCheck): string {
  if (check.kind === 'broken') return `the chain is broken at event ${check.seq}: ${chainReasons[check.reason]}`
  const erased = check.erased > 0 ? `, ${check.erased} payloads erased` : ''
  return `the chain verifies: ${check.events} events${erased}, head ${(check.headHash ?? '').slice(0, 16)}`
}

const chainReasons: Record<Extract<ChainCheck, { kind: 'broken' }>['reason'], string> = {
  sequence: 'a number is missing or comes twice',
  task: 'it belongs to another task',
  hash: 'its header was changed',
  payload: 'its payload was changed',
}
