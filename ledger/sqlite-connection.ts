import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { LedgerLimits } from './limits.ts'
import { migrations, sqliteColumnTypes } from './migrations/index.ts'
import { openDatabase } from './open-database.ts'
import { Argument, type Ask, type Program, type Statement } from './statement.ts'
import type { Tables } from './tables.ts'

export type Durability = 'durable' | 'process'

/** One connection to `<dataDir>/ledger.db`. It answers at once, so a transaction never lets anything else in between. */
export type SqliteConnection = {
  /** Runs a program inside the transaction that is open, if any. */
  run<Result>(program: Program<Result>): Result
  begin(mode: 'read' | 'write'): void
  commit(): void
  rollback(): void
  savepoint(): void
  releaseSavepoint(): void
  rollbackToSavepoint(): void
  /** Copies the write-ahead log into the database and empties it; false: somebody still reads it. */
  emptyLog(): boolean
  close(): void
}

export function openSqliteConnection(options: { dataDir: string; durability: Durability; limits: LedgerLimits }): SqliteConnection {
  const { dataDir, limits } = options
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'ledger.db')
  const database = openDatabase(path, { timeout: limits.busyTimeoutMs })
  try {
    // By name and never by opening it: closing any descriptor of this file would drop this process's locks on it.
    chmodSync(path, 0o600)
    setPragmas(database, options)
    migrate(database)
  } catch (cause) {
    database.close()
    throw new Error(`the ledger in ${dataDir} can not be opened`, { cause })
  }
  return connectionOf(database)
}

function setPragmas(database: Database.Database, { durability, limits }: { durability: Durability; limits: LedgerLimits }): void {
  database.pragma('journal_mode = WAL')
  // NORMAL survives kill -9 but not a power loss; FULL syncs the log at each commit and with it all that came before.
  database.pragma(`synchronous = ${durability === 'durable' ? 'FULL' : 'NORMAL'}`)
  // Erased payloads leave no bytes behind. Every connection needs it: whoever frees a page must wipe it.
  database.pragma('secure_delete = ON')
  database.pragma('temp_store = MEMORY')
  database.pragma(`wal_autocheckpoint = ${durability === 'durable' ? limits.checkpointPages : limits.checkpointPagesOfProcess}`)
  database.pragma(`journal_size_limit = ${limits.journalBytesMax}`)
}

/** `user_version` counts the migrations that were applied. Several processes may open a new folder at the same time. */
function migrate(database: Database.Database): void {
  const applied = () => database.pragma('user_version', { simple: true }) as number
  if (applied() === migrations.length) return
  database.prepare('begin immediate').run()
  try {
    const from = applied()
    if (from > migrations.length) {
      throw new Error(`it was written by a newer version: it has ${from} migrations, this program knows ${migrations.length}`)
    }
    const kysely = compilerOnly()
    for (const migration of migrations.slice(from)) {
      for (const statement of migration(kysely as unknown as Kysely<unknown>, sqliteColumnTypes)) database.exec(statement.compile().sql)
    }
    database.pragma(`user_version = ${migrations.length}`)
    database.prepare('commit').run()
  } catch (cause) {
    if (database.inTransaction) database.prepare('rollback').run()
    throw cause
  }
}

/** Kysely as the compiler of our queries; running them is ours, because a commit is shared by many writes. */
function compilerOnly(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: database => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
}

function connectionOf(database: Database.Database): SqliteConnection {
  const execute = createExecutor(database)
  const simple = (sql: string) => {
    const prepared = database.prepare(sql)
    return () => void prepared.run()
  }
  const beginRead = simple('begin')
  const beginWrite = simple('begin immediate')
  const commit = simple('commit')
  const rollback = simple('rollback')
  const rollbackToSavepoint = simple('rollback to one')
  const releaseSavepoint = simple('release one')
  return {
    run: program => runProgram(program, execute),
    begin: mode => (mode === 'write' ? beginWrite() : beginRead()),
    commit,
    // After some errors SQLite has rolled back by itself.
    rollback: () => {
      if (database.inTransaction) rollback()
    },
    savepoint: simple('savepoint one'),
    releaseSavepoint,
    rollbackToSavepoint: () => {
      rollbackToSavepoint()
      releaseSavepoint()
    },
    emptyLog: () => {
      const [answer] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
      return answer?.busy === 0
    },
    close: () => void database.close(),
  }
}

function runProgram<Result>(program: Program<Result>, execute: (ask: Ask) => unknown): Result {
  let step = program.next()
  while (!step.done) step = program.next(execute(step.value))
  return step.value
}

/** Each statement is compiled by Kysely once and prepared by SQLite once. */
function createExecutor(database: Database.Database): (ask: Ask) => unknown {
  const kysely = compilerOnly()
  const prepared = new Map<Statement<never, unknown>, (args: Ask['args']) => unknown>()
  return ({ statement, args }) => {
    let run = prepared.get(statement)
    if (run === undefined) {
      run = prepare(database, kysely, statement)
      prepared.set(statement, run)
    }
    return run(args)
  }
}

function prepare(
  database: Database.Database,
  kysely: Kysely<Tables>,
  statement: Statement<never, unknown>,
): (args: Ask['args']) => unknown {
  const { sql, parameters } = statement.build(kysely, ((name: string) => new Argument(name)) as never).compile()
  const query = database.prepare(sql)
  const values = (args: Ask['args']) => parameters.map(parameter => (parameter instanceof Argument ? args[parameter.name] : parameter))
  if (query.reader) return args => query.all(values(args))
  return args => {
    query.run(values(args))
    return []
  }
}
