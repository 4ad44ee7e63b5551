/**
 * The database itself failed: the disk is full or broken, or another process held it for too long. Nothing of the write
 * was kept. It may be asked again; whoever was about to say "accepted" says 503.
 */
export class LedgerUnavailable extends Error {
  override name = 'LedgerUnavailable'
}

/** SQLite's own errors carry a code; everything else is not about the database and stays what it is. */
export function explainFailure(cause: unknown): unknown {
  const { code } = cause as { code?: unknown }
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return cause
  return new LedgerUnavailable(`the ledger's database failed with ${code}`, { cause })
}
