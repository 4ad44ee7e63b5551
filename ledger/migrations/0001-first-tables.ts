import { type Kysely, sql } from 'kysely'
import type { ColumnTypes, MigrationStatement } from './column-types.ts'

export function firstTables(database: Kysely<unknown>, types: ColumnTypes): MigrationStatement[] {
  return [
    ...deliveryTables(database, types),
    ...taskTables(database, types),
    ...eventTables(database, types),
    ...budgetTables(database, types),
    ...otherTables(database, types),
  ]
}

function deliveryTables({ schema }: Kysely<unknown>, { counter, bytes, integer }: ColumnTypes): MigrationStatement[] {
  return [
    schema
      .createTable('deliveries')
      .addColumn('number', counter, column => column.primaryKey())
      .addColumn('deliveryId', 'text', column => column.notNull().unique())
      .addColumn('event', 'text', column => column.notNull())
      .addColumn('action', 'text', column => column.notNull())
      .addColumn('receivedAt', integer, column => column.notNull())
      .addColumn('state', 'text', column => column.notNull())
      .addColumn('settledAt', integer)
      .addColumn('note', 'text', column => column.notNull())
      .addColumn('body', bytes),
    schema.createIndex('deliveriesPending').on('deliveries').column('number').where(sql.ref('state'), '=', 'pending'),
  ]
}

function taskTables({ schema }: Kysely<unknown>, { counter, integer }: ColumnTypes): MigrationStatement[] {
  return [
    schema
      .createTable('tasks')
      .addColumn('number', counter, column => column.primaryKey())
      .addColumn('taskId', 'text', column => column.notNull().unique())
      .addColumn('meaningKey', 'text', column => column.notNull().unique())
      .addColumn('laneKey', 'text', column => column.notNull())
      .addColumn('priority', integer, column => column.notNull())
      .addColumn('needsWorker', integer, column => column.notNull())
      .addColumn('state', 'text', column => column.notNull())
      .addColumn('verb', 'text', column => column.notNull())
      .addColumn('repository', 'text', column => column.notNull())
      .addColumn('actor', 'text', column => column.notNull())
      .addColumn('deliveryId', 'text')
      .addColumn('acceptedAt', integer, column => column.notNull())
      .addColumn('deadlineAt', integer, column => column.notNull())
      .addColumn('endedAt', integer)
      .addColumn('outcome', 'text')
      .addColumn('attempts', integer, column => column.notNull())
      .addColumn('owner', 'text')
      .addColumn('leaseUntil', integer, column => column.notNull())
      .addColumn('recoveries', integer, column => column.notNull())
      .addColumn('spentMicroUsd', integer, column => column.notNull())
      .addColumn('erasedAt', integer)
      .addColumn('erasedBy', 'text')
      .addColumn('erasing', integer, column => column.notNull()),
    schema.createIndex('tasksWaiting').on('tasks').columns(['priority', 'number']).where(sql.ref('state'), '=', 'waiting'),
    schema.createIndex('tasksRunning').on('tasks').columns(['laneKey', 'number']).where(sql.ref('state'), '=', 'running'),
    schema.createIndex('tasksErasing').on('tasks').column('number').where(sql.ref('erasing'), '=', 1),
    schema.createIndex('tasksByLane').on('tasks').columns(['laneKey', 'number']),
    schema
      .createTable('attempts')
      .addColumn('task', integer, column => column.notNull().references('tasks.number'))
      .addColumn('number', integer, column => column.notNull())
      .addColumn('owner', 'text', column => column.notNull())
      .addColumn('startedAt', integer, column => column.notNull())
      .addColumn('leaseUntil', integer, column => column.notNull())
      .addColumn('recovers', integer)
      .addColumn('releasedAt', integer)
      .addPrimaryKeyConstraint('attemptsKey', ['task', 'number']),
  ]
}

function eventTables({ schema }: Kysely<unknown>, { counter, bytes, integer, clustered }: ColumnTypes): MigrationStatement[] {
  return [
    schema
      .createTable('events')
      .addColumn('task', integer, column => column.notNull().references('tasks.number'))
      .addColumn('seq', integer, column => column.notNull())
      .addColumn('type', 'text', column => column.notNull())
      .addColumn('version', integer, column => column.notNull())
      .addColumn('commandId', 'text', column => column.notNull())
      .addColumn('actor', 'text', column => column.notNull())
      .addColumn('attempt', integer, column => column.notNull())
      .addColumn('at', integer, column => column.notNull())
      .addColumn('payloadHash', bytes, column => column.notNull())
      .addColumn('hash', bytes, column => column.notNull())
      .addColumn('blob', integer, column => column.notNull())
      .addPrimaryKeyConstraint('eventsKey', ['task', 'seq'])
      .modifyEnd(clustered),
    schema
      .createTable('blobs')
      .addColumn('number', counter, column => column.primaryKey())
      .addColumn('salt', bytes, column => column.notNull())
      .addColumn('bytes', integer, column => column.notNull())
      .addColumn('payload', bytes),
    schema
      .createTable('effects')
      .addColumn('effectId', 'text', column => column.primaryKey().notNull())
      .addColumn('task', integer, column => column.notNull().references('tasks.number'))
      .addColumn('attempt', integer, column => column.notNull())
      .addColumn('kind', 'text', column => column.notNull())
      .addColumn('key', 'text', column => column.notNull())
      .addColumn('state', 'text', column => column.notNull())
      .addColumn('tries', integer, column => column.notNull())
      .addColumn('preparedSeq', integer, column => column.notNull())
      .addColumn('settledSeq', integer)
      .addColumn('preparedAt', integer, column => column.notNull())
      .addColumn('updatedAt', integer, column => column.notNull()),
    schema
      .createIndex('effectsOpen')
      .on('effects')
      .column('updatedAt')
      .where(sql.ref('state'), 'in', ['prepared', 'dispatched', 'unknown']),
    schema.createIndex('effectsByTask').on('effects').columns(['task', 'preparedSeq']),
  ]
}

function budgetTables({ schema }: Kysely<unknown>, { integer }: ColumnTypes): MigrationStatement[] {
  return [
    schema
      .createTable('budgets')
      .addColumn('key', 'text', column => column.primaryKey().notNull())
      .addColumn('reservedMicroUsd', integer, column => column.notNull())
      .addColumn('spentMicroUsd', integer, column => column.notNull()),
    schema
      .createTable('reservations')
      .addColumn('task', integer, column => column.notNull().references('tasks.number'))
      .addColumn('key', 'text', column => column.notNull().references('budgets.key'))
      .addColumn('microUsd', integer, column => column.notNull())
      .addColumn('settledMicroUsd', integer)
      .addPrimaryKeyConstraint('reservationsKey', ['task', 'key']),
  ]
}

function otherTables({ schema }: Kysely<unknown>, { integer }: ColumnTypes): MigrationStatement[] {
  return [
    schema
      .createTable('switches')
      .addColumn('name', 'text', column => column.primaryKey().notNull())
      .addColumn('value', 'text', column => column.notNull())
      .addColumn('at', integer, column => column.notNull())
      .addColumn('by', 'text', column => column.notNull()),
  ]
}
