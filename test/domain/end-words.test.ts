import { expect, test } from 'vitest'
import { endOfCancel, endWords, foldTask } from '../../domain/index.ts'

test('why a task ended and what had been sent are two fields, and one line where they are shown', () => {
  expect(endWords({ reason: 'it stopped; twice' })).toBe('it stopped; twice')
  expect(endWords({ reason: 'it stopped; twice', delivered: 'delivered as #7' })).toBe('it stopped; twice; delivered as #7')
  const payload = { outcome: 'cancelled' as const, reason: 'a; b', summary: '', delivered: 'delivered as #7' }
  const event = { type: 'task.ended' as const, seq: 1, version: 1, at: 5, actor: 'a', attempt: 1, commandId: 'e', payload }
  expect(foldTask([event as never]).outcome).toEqual({ ...payload, at: 5 })
})

test('a task that was asked to end does so in the words of why it was asked', () => {
  const by = '@mona'
  expect(endOfCancel({ by, reason: 'asked to stop' })).toEqual({ outcome: 'cancelled', code: 'cancelled', reason: 'cancelled by @mona' })
  expect(endOfCancel({ by, reason: 'asked to stop', kind: 'cancel' })).toEqual({
    outcome: 'cancelled',
    code: 'cancelled',
    reason: 'cancelled by @mona',
  })
  expect(endOfCancel({ by, reason: '#12 was closed', kind: 'closed' })).toEqual({
    outcome: 'cancelled',
    code: 'thread-closed',
    reason: '#12 was closed',
  })
  const newer = 'a newer review was asked for by @mona'
  expect(endOfCancel({ by, reason: newer, kind: 'superseded' })).toEqual({ outcome: 'superseded', code: 'superseded', reason: newer })
})

test('the kind of a cancel is folded, and a record from before there were kinds has none', () => {
  const event = { type: 'cancel.requested', seq: 1, version: 1, at: 5, actor: 'a', attempt: 0, commandId: 'c' }
  const payload = { by: '@mona', reason: 'asked to stop' }
  expect(foldTask([{ ...event, payload } as never]).cancel).toEqual({ ...payload, at: 5 })
  const closed = { ...payload, kind: 'closed' }
  expect(foldTask([{ ...event, payload: closed } as never]).cancel).toEqual({ ...closed, at: 5 })
})
