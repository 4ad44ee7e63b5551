import { describe, expect, it } from 'vitest'
import { type EventMigrators, eventMigrators, eventTypes, migrateEvent, UnknownEvent } from '../../domain/index.ts'
import { payloads } from './samples.ts'

const table: EventMigrators = {
  version: 3,
  migrators: {
    'taint.raised@1': payload => ({ ...(payload as object), detail: 'lifted to 2' }),
    'taint.raised@2': payload => ({ ...(payload as object), more: 'lifted to 3' }),
  },
}

describe('migrateEvent', () => {
  it.each(eventTypes)('leaves %s of today as it is', type => {
    expect(migrateEvent({ type, version: eventMigrators.version }, payloads[type])).toBe(payloads[type])
  })

  it.each([
    [1, { source: 's', detail: 'lifted to 2', more: 'lifted to 3' }],
    [2, { source: 's', detail: 'd', more: 'lifted to 3' }],
    [3, { source: 's', detail: 'd' }],
  ])('lifts version %i one version after another', (version, lifted) => {
    const stored = { source: 's', detail: 'd' }
    expect(migrateEvent({ type: 'taint.raised', version }, stored, table)).toEqual(lifted)
    expect(stored).toEqual({ source: 's', detail: 'd' })
  })

  it.each([
    ['a version newer than this program', 'taint.raised', 4],
    ['a version that never was', 'taint.raised', 0],
    ['a version that is no number', 'taint.raised', Number.NaN],
    ['a version between two', 'taint.raised', 1.5],
    ['an old version nobody wrote a migrator for', 'task.ended', 1],
    ['a type nobody knows', 'task.vanished', 1],
    ['a name every object has', 'constructor', 1],
  ])('names %s', (_, type, version) => {
    expect(() => migrateEvent({ type, version }, {}, table)).toThrow(UnknownEvent)
    expect(() => migrateEvent({ type, version }, {}, table)).toThrow(JSON.stringify(type))
  })
})
