import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The hidden first line of everything we write on GitHub. It is how a write whose answer was lost is found again, so it
 * must not be forgeable: the MAC binds kind, task, key and place, and our grammar is stripped from every other text.
 */
export type Marker = { kind: string; task: string; key: string }

const macBytes = 16
const grammar = /<!--\s*grokbot:v1 kind=([a-z-]+) task=([A-Za-z0-9_]+) key=([A-Za-z0-9_.:-]+) mac=([0-9a-f]{32})\s*-->/
/** Looser than the grammar on purpose: whatever could be taken for one of our markers goes. */
const anyMarker = /<!--[^>]*grokbot:v\d+[^>]*(?:-->|$)/gi

/** `place` is where it stands, such as `owner/name#12`: a marker copied elsewhere is not ours. */
export function renderMarker(key: Uint8Array, marker: Marker, place: string): string {
  return `<!-- grokbot:v1 kind=${marker.kind} task=${marker.task} key=${marker.key} mac=${macOf(key, marker, place)} -->`
}

/** The marker on the first line of `body`, or null when there is none or its MAC is wrong for this place. */
export function readMarker(key: Uint8Array, body: string, place: string): Marker | null {
  const match = grammar.exec(body.split('\n', 1)[0] ?? '')
  if (!match) return null
  const marker = { kind: match[1] as string, task: match[2] as string, key: match[3] as string }
  const expected = Buffer.from(macOf(key, marker, place), 'hex')
  const given = Buffer.from(match[4] as string, 'hex')
  return timingSafeEqual(expected, given) ? marker : null
}

export function stripMarkers(text: string): string {
  let clean = text
  // Removing one can make another out of its neighbours: repeat until nothing changes.
  for (let before = ''; before !== clean; ) {
    before = clean
    clean = clean.replace(anyMarker, '')
  }
  return clean
}

function macOf(key: Uint8Array, { kind, task, key: ordinal }: Marker, place: string): string {
  return createHmac('sha256', key)
    .update([kind, task, ordinal, place].join('|'))
    .digest('hex')
    .slice(0, macBytes * 2)
}
