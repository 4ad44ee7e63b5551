import { explainFailure, LedgerUnavailable } from './ledger-unavailable.ts'
import type { LedgerLimits } from './limits.ts'
import type { Durability, SqliteConnection } from './sqlite-connection.ts'
import type { Program } from './statement.ts'

/**
 * Turns programs into transactions. In durable mode the writes that came in since the last commit share one: a commit
 * costs one fsync whatever it holds. Each write keeps its own savepoint, so one that throws takes no other with it, and
 * nobody is answered before the commit is on the disk. In process mode a commit is cheap and every write has its own.
 */
export type CommitGroup = {
  write<Result>(program: () => Program<Result>): Promise<Result>
  /** A write with a commit of its own, at once. */
  writeAlone<Result>(program: () => Program<Result>): Result
  /** Reads see only what is committed. */
  read<Result>(program: () => Program<Result>): Result
  /** Commits what is still waiting. */
  drain(): void
}

type Waiting = { program: () => Program<unknown>; resolve: (result: never) => void; reject: (cause: unknown) => void }

export function createCommitGroup(connection: SqliteConnection, durability: Durability, limits: LedgerLimits): CommitGroup {
  const waiting: Waiting[] = []
  let scheduled = false

  function drain() {
    scheduled = false
    while (waiting.length > 0) commitTogether(connection, waiting.splice(0, limits.groupWritesMax))
  }

  function writeAlone<Result>(program: () => Program<Result>): Result {
    return inTransaction(connection, 'write', () => connection.run(program()))
  }

  function writeTogether<Result>(program: () => Program<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (waiting.length >= limits.waitingWritesMax) return reject(new LedgerUnavailable(`${waiting.length} writes are waiting already`))
      waiting.push({ program, resolve, reject })
      if (scheduled) return
      scheduled = true
      // After this turn of the event loop, so that all requests that have arrived are in the same commit.
      setImmediate(drain)
    })
  }

  return {
    write: async program => (durability === 'process' ? writeAlone(program) : writeTogether(program)),
    writeAlone,
    read: program => inTransaction(connection, 'read', () => connection.run(program())),
    drain,
  }
}

function inTransaction<Result>(connection: SqliteConnection, mode: 'read' | 'write', work: () => Result): Result {
  try {
    connection.begin(mode)
    const result = work()
    connection.commit()
    return result
  } catch (cause) {
    connection.rollback()
    throw explainFailure(cause)
  }
}

function commitTogether(connection: SqliteConnection, group: readonly Waiting[]): void {
  const settle: (() => void)[] = []
  try {
    inTransaction(connection, 'write', () => {
      for (const one of group) settle.push(runInSavepoint(connection, one))
    })
  } catch (cause) {
    for (const { reject } of group) reject(cause)
    return
  }
  for (const answer of settle) answer()
}

function runInSavepoint(connection: SqliteConnection, { program, resolve, reject }: Waiting): () => void {
  connection.savepoint()
  try {
    const result = connection.run(program())
    connection.releaseSavepoint()
    return () => resolve(result as never)
  } catch (cause) {
    undoOne(connection, cause)
    return () => reject(cause)
  }
}

/** A full disk makes SQLite roll back everything: then there is no savepoint left and the whole group fails of the cause. */
function undoOne(connection: SqliteConnection, cause: unknown): void {
  try {
    connection.rollbackToSavepoint()
  } catch {
    throw cause
  }
}
