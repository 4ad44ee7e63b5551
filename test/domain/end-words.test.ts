import { expect, test } from 'vitest'
import { endWords, foldTask } from '../../domain/index.ts'

test('why a task ended and what had been sent are two fields, and one line where they are shown', () => {
  expect(endWords({ reason: 'it stopped; twice' })).toBe('it stopped; twice')
  expect(endWords({ reason: 'it stopped; twice', delivered: 'delivered as #7' })).toBe('it stopped; twice; delivered as #7')
  const payload = { outcome: 'cancelled' as const, reason: 'a; b', summary: '', delivered: 'delivered as #7' }
  const event = { type: 'task.ended' as const, seq: 1, version: 1, at: 5, actor: 'a', attempt: 1, commandId: 'e', payload }
  expect(foldTask([event as never]).outcome).toEqual({ ...payload, at: 5 })
})
