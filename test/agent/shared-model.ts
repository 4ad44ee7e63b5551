import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type FakeModel, type Simulator, startSimulator } from '../../simulator/index.ts'

/** One scripted model for all tests of a file or a group. Each test is given it without requests and without faults. */
export function useModel(give: (model: FakeModel) => void): void {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(() => simulator.close())
  beforeEach(() => {
    simulator.model.clearFaults()
    simulator.model.requests.length = 0
    give(simulator.model)
  })
}
