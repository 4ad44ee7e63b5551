import { type ColumnDataType, type Kysely, type RawBuilder, sql } from 'kysely'

/** What two databases call the same thing; a migration is written once, on these names. */
export type ColumnTypes = {
  /** As a primary key it counts up by itself. */
  counter: ColumnDataType
  bytes: ColumnDataType
  /** Holds UTC milliseconds and millionths of a dollar. */
  integer: ColumnDataType
  /** Stores a table in the order of its primary key, where a database can: one page less to write for each row. */
  clustered: RawBuilder<unknown>
}

export const sqliteColumnTypes: ColumnTypes = { counter: 'integer', bytes: 'blob', integer: 'integer', clustered: sql`without rowid` }

/** A statement that the database's own dialect compiles when it is applied. */
export type MigrationStatement = { compile(): { readonly sql: string } }

/** Statements in order. A migration that was ever released is never edited. */
export type Migration = (database: Kysely<unknown>, types: ColumnTypes) => MigrationStatement[]
