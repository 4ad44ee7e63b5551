import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The hidden first line of everything we write on GitHub. It is how a write whose answer was lost is found again, so it
 * must not be forgeable: the MAC binds kind, task, key and place, and our grammar is stripped from every other text.
 */
export type Marker = { kind: string; task: string; key: string }

const macBytes = 16
const grammar = /<!--\s*grokbot:v1 kind=([a-z-]+) task=([A-Za-z0-9_]+) key=([A-Za-z0-9_.:-]+) mac=([0-9a-f]{32})\s*-->/
/** Looser than the grammar on purpose: whatever could be taken for one of our markers goes. */
const ours = /grokbot:v\d/i

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

/**
 * Without any comment that names our grammar. Taking one out can make another of what stood around it, and there can be as
 * many turns of that as there are characters: then the name itself is broken up, which makes nothing new.
 */
export function stripMarkers(text: string): string {
  const clean = withoutMarkers(text)
  return withoutMarkers(clean) === clean ? clean : clean.replace(/grokbot:v(?=\d)/gi, 'grokbot: v')
}

/** In one pass, since nothing of a marker but its last character is a `>`. One that is never closed goes up to the end. */
function withoutMarkers(text: string): string {
  if (!ours.test(text)) return text
  let clean = ''
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf('>', from)
    const [end, isClosed] = found < 0 ? [text.length, false] : [found + 1, true]
    const piece = text.slice(from, end)
    const opened = piece.indexOf('<!--')
    const isMarker = opened >= 0 && (!isClosed || piece.endsWith('-->')) && ours.test(piece.slice(opened + 4))
    clean += isMarker ? piece.slice(0, opened) : piece
    from = end
  }
  return clean
}

function macOf(key: Uint8Array, { kind, task, key: ordinal }: Marker, place: string): string {
  return createHmac('sha256', key)
    .update([kind, task, ordinal, place].join('|'))
    .digest('hex')
    .slice(0, macBytes * 2)
}
