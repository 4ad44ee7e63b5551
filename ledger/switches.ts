import { type Program, statement } from './statement.ts'
import type { Row } from './tables.ts'

export function* findSwitch(name: string): Program<{ value: string; at: number } | null> {
  const [found] = yield* selectSwitch({ name })
  return found ?? null
}

const selectSwitch = statement<{ name: string }, { value: string; at: number }>((database, argument) =>
  database.selectFrom('switches').select(['value', 'at']).where('name', '=', argument('name')),
)

export const setSwitch = statement<Row<'switches'>>((database, argument) =>
  database
    .insertInto('switches')
    .values({ name: argument('name'), value: argument('value'), at: argument('at'), by: argument('by') })
    .onConflict(conflict => conflict.column('name').doUpdateSet({ value: argument('value'), at: argument('at'), by: argument('by') })),
)
