import { statement } from './statement.ts'

/** Writes over the one row of its table: as durable as any write, and it leaves nothing that grows. */
export const probeWrite = statement<{ owner: string; at: number }>((database, argument) =>
  database
    .insertInto('probes')
    .values({ number: 1, owner: argument('owner'), at: argument('at') })
    .onConflict(conflict => conflict.column('number').doUpdateSet({ owner: argument('owner'), at: argument('at') })),
)
