import { afterEach, beforeEach, describe } from 'vitest'
import { appends, effects, outsiders, records } from './contract-events.ts'
import { budgets, erasing, others } from './contract-keeping.ts'
import type { LedgerScene } from './contract-scene.ts'
import { acceptance, claims, deliveries, leases } from './contract-tasks.ts'

export type { LedgerScene } from './contract-scene.ts'

/** What every driver of the ledger must do. It knows nothing of a database: only the contract's own methods are used. */
export function describeLedger(driver: string, openScene: () => Promise<LedgerScene>): void {
  describe(`the ledger on ${driver}`, () => {
    let scene: LedgerScene
    beforeEach(async () => {
      scene = await openScene()
    })
    afterEach(() => scene.close())
    const each = { of: () => scene }
    deliveries(each)
    acceptance(each)
    claims(each)
    leases(each)
    appends(each)
    outsiders(each)
    effects(each)
    records(each)
    budgets(each)
    others(each)
    erasing(each)
  })
}
