import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  type ChainedHeader,
  eventSchemas,
  eventTypes,
  findChainFault,
  foldTask,
  hashEvent,
  hashPayload,
  migrateEvent,
  type RecordedEvent,
} from '../../domain/index.ts'
import { type GoldenEntry, type GoldenLedger, goldenPath, writeGoldenLedgers } from './golden-ledger.ts'

const golden = JSON.parse(readFileSync(goldenPath, 'utf8')) as GoldenLedger[]
const all = golden.flatMap(({ taskId, entries }) =>
  entries.map(entry => [`${taskId.slice(-1)}:${entry.header.seq} ${entry.header.type}`, entry] as const),
)
const headersOf = ({ entries }: GoldenLedger) => entries.map(({ header }) => header)

describe('the golden ledger, version 1', () => {
  it('holds every event type', () => {
    expect([...new Set(all.map(([, { header }]) => header.type))].sort()).toEqual([...eventTypes].sort())
  })

  it('is what today’s ledger writes, to the byte', async () => {
    expect(await writeGoldenLedgers()).toEqual(golden)
  })

  it.each(all)('has today’s payload hash at %s', (_, { header, salt, payload }) => {
    expect(hashPayload(Buffer.from(salt, 'hex'), Buffer.from(payload, 'utf8'))).toBe(header.payloadHash)
  })

  it.each(golden.map(ledger => [ledger.taskId, ledger] as const))('has today’s event hashes in %s', (taskId, ledger) => {
    let previous = createHash('sha256').update(taskId).digest('hex')
    for (const { header } of ledger.entries) {
      expect(hashEvent(previous, header)).toBe(header.hash)
      // The same by hand: our header has only strings and whole numbers, so sorted keys are all there is to RFC 8785.
      expect(hashByHand(previous, header)).toBe(header.hash)
      previous = header.hash
    }
    expect(findChainFault(taskId, headersOf(ledger))).toBeNull()
  })

  it.each(golden.map(ledger => [ledger.taskId, ledger] as const))('is parsed and folds at every prefix of %s', (_, { entries }) => {
    const events = entries.map(recorded)
    for (let length = 0; length <= events.length; length += 1) {
      const state = foldTask(events.slice(0, length))
      expect(state.seq).toBe(length)
      expect(foldTask(events.slice(length), state)).toEqual(foldTask(events))
    }
  })

  // A state is nowhere kept, so a field may be added to it, and these change then; what was there before may not fold to anything else.
  it('folds to the state it folded to when it was frozen', () => {
    const hashes = golden.map(({ entries }) =>
      createHash('sha256')
        .update(JSON.stringify(foldTask(entries.map(recorded))))
        .digest('hex'),
    )
    expect(hashes).toMatchInlineSnapshot(`
      [
        "ddec1b6314e1a5e27087b47304e1d4be1b8c8b8c37ec4d13d596f54eb79489be",
        "d86598ec23af0f0dd8dbade17112230f5c4c9b3b8d5dcb5009966cc85d4a31c8",
      ]
    `)
  })
})

describe('a tampered chain', () => {
  const ledger = golden[0] as GoldenLedger
  const headers = headersOf(ledger)
  const fault = (changed: ChainedHeader[]) => findChainFault(ledger.taskId, changed)

  it('is found out for every flipped byte of every header', () => {
    let flips = 0
    for (const [index, header] of headers.entries()) {
      const text = Buffer.from(JSON.stringify(header))
      for (let at = 0; at < text.length; at += 1) {
        const flipped = Buffer.from(text)
        flipped[at] = (text[at] as number) ^ 1
        const changed = parseHeader(flipped)
        // A header that is no JSON any more can not be mistaken for the right one.
        if (changed === null) continue
        flips += 1
        const found = fault(headers.with(index, changed))
        expect(found?.seq, `byte ${at} of header ${index + 1}: ${flipped}`).toBeLessThanOrEqual(header.seq)
      }
    }
    expect(flips).toBeGreaterThan(5_000)
  })

  it.each([
    ['removed in front', headers.slice(1), { seq: 1, reason: 'sequence' }],
    ['removed in the middle', headers.toSpliced(7, 1), { seq: 8, reason: 'sequence' }],
    ['doubled', headers.toSpliced(7, 0, headers[7] as ChainedHeader), { seq: 9, reason: 'sequence' }],
    ['swapped', [headers[1], headers[0], ...headers.slice(2)] as ChainedHeader[], { seq: 1, reason: 'sequence' }],
    [
      'renumbered after one was removed',
      headers.toSpliced(7, 1).map((header, index) => ({ ...header, seq: index + 1 })),
      { seq: 8, reason: 'hash' },
    ],
    ['taken from another task', headersOf(golden[1] as GoldenLedger), { seq: 1, reason: 'task' }],
  ])('is found out when headers are %s', (_, changed, expected) => {
    expect(fault(changed)).toEqual(expected)
  })

  it('can not be hidden by computing the later hashes anew, except from its head', () => {
    const forged = headers.with(3, { ...(headers[3] as ChainedHeader), actor: 'github:666' })
    let previous = (headers[2] as ChainedHeader).hash
    for (let index = 3; index < forged.length; index += 1) {
      const header = forged[index] as ChainedHeader
      previous = hashEvent(previous, header)
      forged[index] = { ...header, hash: previous }
    }
    expect(fault(forged)).toBeNull()
    expect(forged.at(-1)?.hash).not.toBe(headers.at(-1)?.hash)
  })
})

describe('a payload', () => {
  it.each(all)('does not fit its hash after any flipped byte or salt at %s', (_, { header, salt, payload }) => {
    const bytes = Buffer.from(payload, 'utf8')
    const saltBytes = Buffer.from(salt, 'hex')
    for (let at = 0; at < bytes.length; at += 1) expect(hashPayload(saltBytes, flip(bytes, at))).not.toBe(header.payloadHash)
    for (let at = 0; at < saltBytes.length; at += 1) expect(hashPayload(flip(saltBytes, at), bytes)).not.toBe(header.payloadHash)
  })

  it('takes no salt of another length', () => {
    expect(() => hashPayload(Buffer.alloc(15), Buffer.from('x'))).toThrow('16 bytes')
  })
})

function flip(bytes: Buffer, at: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[at] = (bytes[at] as number) ^ 1
  return flipped
}

function parseHeader(bytes: Buffer): ChainedHeader | null {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return null
  }
}

function hashByHand(previous: string, header: ChainedHeader): string {
  const { hash: _, ...rest } = header
  const sorted = JSON.stringify(Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))))
  return createHash('sha256').update('grokbot event v1\n').update(Buffer.from(previous, 'hex')).update(sorted).digest('hex')
}

function recorded({ header, payload }: GoldenEntry): RecordedEvent {
  const { type, version } = header
  const parsed = eventSchemas[type as RecordedEvent['type']].parse(migrateEvent({ type, version }, JSON.parse(payload)))
  return { ...header, payload: parsed } as unknown as RecordedEvent
}
