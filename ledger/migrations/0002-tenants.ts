import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ColumnTypes, MigrationStatement } from './column-types.ts'

/**
 * Tenants take turns; a task that was asked to end is known by its row; a write can be tried without leaving anything.
 * New columns have defaults, so that a process of the version before this one can go on with what it has open.
 */
export function tenants(database: Kysely<unknown>, { integer }: ColumnTypes): MigrationStatement[] {
  const { schema } = database
  return [
    schema.alterTable('tasks').addColumn('tenantKey', 'text', column => column.notNull().defaultTo('')),
    // Which installation a task came from stands in its payloads alone; tasks of one repository came from the same.
    plain(database, sql`update "tasks" set "tenantKey" = "repository"`),
    schema.alterTable('tasks').addColumn('cancelRequestedAt', integer),
    plain(
      database,
      sql`update "tasks" set "cancelRequestedAt" = (
        select min("at") from "events" where "task" = "tasks"."number" and "type" = 'cancel.requested'
      ) where "state" in ('waiting', 'running')`,
    ),
    schema.dropIndex('tasksWaiting'),
    // Lane and time stand in it so that tasks of busy lanes are passed over, and ages told, without a look at their rows.
    schema
      .createIndex('tasksWaiting')
      .on('tasks')
      .columns(['priority', 'tenantKey', 'number', 'laneKey', 'acceptedAt'])
      .where(sql<SqlBool>`"state" = 'waiting' and "needsWorker" = 1`),
    schema.createIndex('tasksReplying').on('tasks').column('number').where(sql<SqlBool>`"state" = 'waiting' and "needsWorker" = 0`),
    schema.createIndex('tasksRunningByTenant').on('tasks').column('tenantKey').where(sql.ref('state'), '=', 'running'),
    schema
      .createIndex('tasksOpenByRepository')
      .on('tasks')
      .columns(['repository', 'number'])
      .where(sql.ref('state'), 'in', ['waiting', 'running']),
    schema
      .createTable('tenants')
      .addColumn('tenantKey', 'text', column => column.primaryKey().notNull())
      .addColumn('served', integer, column => column.notNull()),
    schema.createIndex('tenantsByServed').on('tenants').column('served'),
    schema
      .createTable('probes')
      .addColumn('number', integer, column => column.primaryKey().notNull())
      .addColumn('owner', 'text', column => column.notNull())
      .addColumn('at', integer, column => column.notNull()),
    // What the probe wrote before it had a table of its own.
    plain(database, sql`delete from "switches" where "name" = 'written'`),
  ]
}

function plain(database: Kysely<unknown>, statement: RawBuilder<unknown>): MigrationStatement {
  return { compile: () => statement.compile(database) }
}
