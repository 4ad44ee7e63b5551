import type { Generated, Selectable } from 'kysely'

/**
 * The rows as they are stored. Times are UTC milliseconds. Tasks have an integer beside their name because events and
 * payloads carry it in every row. Hashes are bytes here and lower-case hex everywhere else.
 */
export type Tables = {
  deliveries: {
    number: Generated<number>
    deliveryId: string
    event: string
    action: string
    /** Null once it was pruned or erased; the row stays, so that a redelivery is still known. */
    body: Uint8Array | null
    receivedAt: number
    state: 'pending' | 'settled' | 'ignored'
    settledAt: number | null
    note: string
  }
  tasks: {
    number: Generated<number>
    taskId: string
    meaningKey: string
    laneKey: string
    priority: number
    needsWorker: 0 | 1
    state: 'waiting' | 'running' | 'ended'
    verb: string
    repository: string
    actor: string
    deliveryId: string | null
    acceptedAt: number
    deadlineAt: number
    endedAt: number | null
    outcome: string | null
    /** The newest attempt's number: the fencing number. */
    attempts: number
    /** The newest attempt's owner and lease, as in `attempts`; here so that a claim is one look-up. */
    owner: string | null
    leaseUntil: number
    /** Attempts that took over from an owner that was lost; handing back in good order is none. */
    recoveries: number
    /** What its answered and failed requests cost, as far as their price is known. */
    spentMicroUsd: number
    erasedAt: number | null
    erasedBy: string | null
    /** 1 while files and log still have to be emptied. */
    erasing: 0 | 1
    /** Whom it is done for; tenants take turns. Those of before the second migration have their repository here. */
    tenantKey: string
    /** When it was first asked to end; null: it was not. */
    cancelRequestedAt: number | null
  }
  attempts: {
    task: number
    number: number
    owner: string
    startedAt: number
    leaseUntil: number
    recovers: number | null
    releasedAt: number | null
  }
  events: {
    task: number
    seq: number
    type: string
    version: number
    commandId: string
    actor: string
    attempt: number
    at: number
    payloadHash: Uint8Array
    hash: Uint8Array
    /** Its row in `blobs`. */
    blob: number
  }
  /**
   * Every payload with its salt; each belongs to one event and is never shared. No row: it was erased. The event points
   * here by number and not by hash: an index over hashes would double what an append writes.
   */
  blobs: {
    number: Generated<number>
    salt: Uint8Array
    bytes: number
    /** Null: the file `blobs/<task id>/<payload hash>`. */
    payload: Uint8Array | null
  }
  effects: {
    effectId: string
    task: number
    attempt: number
    kind: string
    key: string
    state: 'prepared' | 'dispatched' | 'confirmed' | 'rejected' | 'unknown'
    tries: number
    /** The events whose payloads hold the intent and what exists at the other side. */
    preparedSeq: number
    settledSeq: number | null
    preparedAt: number
    updatedAt: number
  }
  budgets: { key: string; reservedMicroUsd: number; spentMicroUsd: number }
  reservations: { task: number; key: string; microUsd: number; settledMicroUsd: number | null }
  switches: { name: string; value: string; at: number; by: string }
  /** A tenant that was ever served, and with which start that was last; starts are counted over all tenants. */
  tenants: { tenantKey: string; served: number }
  /** One row, which is only ever written over. */
  probes: { number: number; owner: string; at: number }
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>
