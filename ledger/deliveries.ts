import { sql } from 'kysely'
import type { Delivery, NewDelivery } from './ledger.ts'
import { type Program, statement } from './statement.ts'

export function* recordDelivery({ id, event, action, body, receivedAt }: NewDelivery): Program<'recorded' | 'known'> {
  const recorded = yield* insertDelivery({ id, event, action, body, receivedAt })
  return recorded.length === 1 ? 'recorded' : 'known'
}

const insertDelivery = statement<NewDelivery, { number: number }>((database, argument) =>
  database
    .insertInto('deliveries')
    .values({
      deliveryId: argument('id'),
      event: argument('event'),
      action: argument('action'),
      receivedAt: argument('receivedAt'),
      state: 'pending',
      settledAt: null,
      note: '',
      body: argument('body'),
    })
    .onConflict(conflict => conflict.column('deliveryId').doNothing())
    .returning('number'),
)

export const pendingDeliveries = statement<{ limit: number }, Delivery>((database, argument) =>
  database
    .selectFrom('deliveries')
    .select(['deliveryId as id', 'event', 'action', 'body', 'receivedAt', 'state'])
    // Literal, so that the partial index is used.
    .where('state', '=', sql.lit('pending'))
    .orderBy('number')
    .limit(argument('limit')),
)

export const findDelivery = statement<{ id: string }, { id: string }>((database, argument) =>
  database.selectFrom('deliveries').select('deliveryId as id').where('deliveryId', '=', argument('id')),
)

type Settling = { id: string; state: 'settled' | 'ignored'; note: string; at: number }

/** Only the first settling counts. */
export const settleDelivery = statement<Settling>((database, argument) =>
  database
    .updateTable('deliveries')
    .set({ state: argument('state'), note: argument('note'), settledAt: argument('at') })
    .where('deliveryId', '=', argument('id'))
    .where('state', '=', 'pending'),
)

/** Takes the bodies away and keeps the ids, so that a late redelivery is still known. */
export const pruneDeliveries = statement<{ settledBefore: number }, { number: number }>((database, argument) =>
  database
    .updateTable('deliveries')
    .set({ body: null })
    .where('state', '!=', 'pending')
    .where('settledAt', '<', argument('settledBefore'))
    .where('body', 'is not', null)
    .returning('number'),
)

export const dropDeliveryBody = statement<{ id: string }>((database, argument) =>
  database.updateTable('deliveries').set({ body: null }).where('deliveryId', '=', argument('id')).where('state', '!=', 'pending'),
)
