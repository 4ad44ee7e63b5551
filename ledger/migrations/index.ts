import { firstTables } from './0001-first-tables.ts'
import { tenants } from './0002-tenants.ts'
import type { Migration } from './column-types.ts'

export { sqliteColumnTypes } from './column-types.ts'

/** Oldest first. A database remembers how many of these it has. */
export const migrations: readonly Migration[] = [firstTables, tenants]
