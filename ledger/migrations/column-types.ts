import type { ColumnDataType, Kysely } from 'kysely'

/** What two databases call the same thing; a migration is written once, on these names. */
export type ColumnTypes = {
  /** As a primary key it counts up by itself. */
  counter: ColumnDataType
  bytes: ColumnDataType
  /** Holds UTC milliseconds and millionths of a dollar. */
  integer: ColumnDataType
}

export const sqliteColumnTypes: ColumnTypes = { counter: 'integer', bytes: 'blob', integer: 'integer' }

/** A statement that the database's own dialect compiles when it is applied. */
export type MigrationStatement = { compile(): { readonly sql: string } }

/** Statements in order. A migration that was ever released is never edited. */
export type Migration = (database: Kysely<unknown>, types: ColumnTypes) => MigrationStatement[]
