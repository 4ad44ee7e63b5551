import { afterEach, beforeEach, describe } from 'vitest'
import { appends, effects, outsiders, records } from './contract-events.ts'
import { figures } from './contract-figures.ts'
import { budgets, erasing, others } from './contract-keeping.ts'
import { lanes } from './contract-lanes.ts'
import { pages } from './contract-pages.ts'
import type { LedgerScene } from './contract-scene.ts'
import { acceptance, claims, deliveries, leases } from './contract-tasks.ts'
import { turns } from './contract-turns.ts'

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
    turns(each)
    lanes(each)
    leases(each)
    appends(each)
    outsiders(each)
    effects(each)
    records(each)
    pages(each)
    budgets(each)
    others(each)
    figures(each)
    erasing(each)
  })
}
