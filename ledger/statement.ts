import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * One query of the ledger, written with Kysely and independent of a database: a driver compiles it once and then only
 * fills in the arguments, because compiling costs more than running it.
 */
export type Statement<Args, Row> = {
  readonly build: (database: Database, argument: ArgumentOf<Args>) => Compiled
  readonly row?: Row
  (args: Args): Program<Row[]>
}

export type Database = Kysely<Tables>
type Compiled = { compile(): { readonly sql: string; readonly parameters: readonly unknown[] } }
/** Stands for a value that comes later. Kysely passes it through as any other parameter. */
type ArgumentOf<Args> = <Name extends keyof Args & string>(name: Name) => Args[Name]

/** What a statement asks of a driver. */
export type Ask = { statement: Statement<never, unknown>; args: Readonly<Record<string, unknown>> }

/**
 * A piece of work inside one transaction: it hands out queries and gets their rows back, so that the same code runs on a
 * database that answers at once (SQLite) and on one that answers later. It must ask nothing else and await nothing.
 */
export type Program<Result> = Generator<Ask, Result, unknown>

export class Argument {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

export function statement<Args extends Record<string, unknown>, Row = never>(build: Statement<Args, Row>['build']): Statement<Args, Row> {
  const ask = function* (args: Args): Program<Row[]> {
    return (yield { statement: run as unknown as Statement<never, unknown>, args }) as Row[]
  }
  const run: Statement<Args, Row> = Object.assign(ask, { build })
  return run
}

/**
 * The same number, hidden from the planner. SQLite with STAT4 plans a statement anew each time another value is bound to
 * a parameter that a range or an order depends on, which costs several times the query itself.
 */
export function hidden(argument: number): RawBuilder<number> {
  return sql<number>`(select cast(${argument} as bigint))`
}
