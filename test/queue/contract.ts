import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Queue } from '../../queue/index.ts'
import { listenTo } from './open-recorded.ts'

/** What every driver keeps, whatever lies behind it. `open` gives one on which rings can be heard at once. */
export function describeQueue(driver: string, open: () => Promise<Queue>): void {
  describe(`a queue ${driver}`, () => {
    let queue: Queue
    beforeEach(async () => {
      queue = await open()
    })
    afterEach(() => queue.close())

    it('tells its listener which task was rung', async () => {
      const listener = listenTo(queue)
      expect(await queue.ring('t_1', 0)).toBe('rung')
      await listener.hears('t_1')
      expect(new Set(listener.heard)).toEqual(new Set(['t_1']))
    })
    it('tells it again when the same task is rung again', async () => {
      const listener = listenTo(queue)
      for (let round = 0; round < 3; round += 1) {
        listener.heard.length = 0
        expect(await queue.ring('t_1', 0)).toBe('rung')
        await listener.hears('t_1')
      }
    })
    it('loses none of many rings at once', async () => {
      const listener = listenTo(queue)
      const ids = Array.from({ length: 200 }, (_, index) => `t_${index}`)
      expect(new Set(await Promise.all(ids.map(id => queue.ring(id, 0))))).toEqual(new Set(['rung']))
      for (const id of ids) await listener.hears(id)
      expect(new Set(listener.heard)).toEqual(new Set(ids))
    })
    it('takes any priority and any text as the id of a task', async () => {
      const listener = listenTo(queue)
      const rings = [
        [':', -5],
        ['a:b\n"', 0.5],
        ['é'.repeat(300), 2 ** 40],
        ['t', Number.MAX_SAFE_INTEGER],
      ] as const
      for (const [taskId, priority] of rings) {
        expect(await queue.ring(taskId, priority)).toBe('rung')
        await listener.hears(taskId)
      }
    })
    it('has one listener, and says so to a second one', async () => {
      const listener = listenTo(queue)
      expect(() => listenTo(queue)).toThrow('the queue has a listener already')
      await queue.ring('t_1', 0)
      await listener.hears('t_1')
    })
    it('tells nothing more to who stopped listening, and another may listen then', async () => {
      const first = listenTo(queue)
      first.stop()
      const second = listenTo(queue)
      first.stop()
      await queue.ring('t_1', 0)
      await second.hears('t_1')
      expect(first.heard).toEqual([])
    })
    it('is closed once and for all: rings are lost, nobody hears', async () => {
      const listener = listenTo(queue)
      await queue.close()
      expect(await queue.ring('t_1', 0)).toBe('lost')
      await queue.close()
      expect(listener.heard).toEqual([])
    })
  })
}
