/**
 * Something that can not be true is true: a bug, ours or the caller's. Nothing of the transaction is kept. The run ends
 * as `errored` with its state kept; it never goes on. These checks stay on in production.
 */
export class LedgerAssertion extends Error {
  override name = 'LedgerAssertion'
  readonly facts: Record<string, unknown>
  constructor(what: string, facts: Record<string, unknown> = {}) {
    super(`${what} ${JSON.stringify(facts)}`)
    this.facts = facts
  }
}

export function assertLedger(holds: boolean, what: string, facts: Record<string, unknown> = {}): asserts holds {
  if (!holds) throw new LedgerAssertion(what, facts)
}
