import { bareOf, barePieces } from './bare-text.ts'
import { telemetryLimits } from './limits.ts'
import { createNeedleIndex, type Needle } from './needle-index.ts'

/**
 * The credentials this process holds. Each is looked for in every spelling in which it would still be one: as it is, as
 * JSON, in a URL, in hex, in base64 at each of its three offsets, with its beginning or end cut off.
 */
type Registered = {
  needles: readonly Needle[]
  /** The same for what is spread over a text, where only letters and digits count. */
  bare: readonly Needle[]
  /** UTC milliseconds; Infinity = until the process ends. */
  expiresAt: number
}

const registered = new Map<string, Registered>()
const index = createNeedleIndex()
const bareIndex = createNeedleIndex()

/** From now on this value is replaced wherever text passes `redact`, until `expiresAt` (UTC milliseconds) when it is given. */
export function registerSecret(value: string, expiresAt = Number.POSITIVE_INFINITY, now = Date.now()): void {
  if (value.length < telemetryLimits.secretLengthMin) return
  for (const [other, { expiresAt: end }] of registered) if (end + telemetryLimits.clockSkewMs < now) forget(other)
  forget(value)
  const [needles, bare] = [needlesOf(value), bareNeedlesOf(value)]
  for (const needle of needles) index.add(needle)
  for (const needle of bare) bareIndex.add(needle)
  registered.set(value, { needles, bare, expiresAt })
  const expiring = [...registered].filter(([, { expiresAt: end }]) => end !== Number.POSITIVE_INFINITY)
  for (const [other] of expiring.slice(0, Math.max(0, expiring.length - telemetryLimits.expiringMax))) forget(other)
}

function forget(value: string): void {
  const { needles = [], bare = [] } = registered.get(value) ?? {}
  for (const needle of needles) index.remove(needle)
  for (const needle of bare) bareIndex.remove(needle)
  registered.delete(value)
}

/** Those that do not expire, for a thread of this process, which has a memory of its own. */
export function lastingSecrets(): string[] {
  return [...registered].flatMap(([value, { expiresAt }]) => (expiresAt === Number.POSITIVE_INFINITY ? [value] : []))
}

/** Replaces what is registered, and long enough parts of it, and nothing else. */
export function redactRegistered(text: string): string {
  const spans: Span[] = []
  let last: (Span & { spelling: string }) | null = null
  index.scan(text, (place, needle) => {
    // The next part of what was just found: its span is known.
    if (last?.spelling === needle.spelling && place < last.end) return false
    last = { ...spanAround(text, place, needle), spelling: needle.spelling }
    spans.push(last)
    return false
  })
  return spans.length === 0 ? text : cutOut(text, spans)
}

/**
 * Whether one, or a long enough part of one, would come together if all that is no letter or digit were left out between,
 * escapes were read, and the case of letters did not count.
 */
export function holdsSplitSecret(text: string): boolean {
  let holds = false
  for (const piece of barePieces(text, 2 * telemetryLimits.secretPartMin)) {
    bareIndex.scan(piece, () => {
      holds = true
      return true
    })
    if (holds) return true
  }
  return false
}

type Span = { start: number; end: number }

/** As much of the spelling as stands around the part that was found. */
function spanAround(text: string, found: number, { text: part, spelling, at }: Needle): Span {
  let [start, end] = [found, found + part.length]
  while (start > 0 && at - (found - start) > 0 && text[start - 1] === spelling[at - (found - start) - 1]) start -= 1
  while (end < text.length && text[end] === spelling[at + (end - found)]) end += 1
  return { start, end }
}

/** Spans that overlap are one: it is a spelling within another. */
function cutOut(text: string, spans: Span[]): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end } of spans.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= from) parts.push(text.slice(from, start), '[redacted]')
    from = Math.max(from, end)
  }
  return [...parts, text.slice(from)].join('')
}

/** Each spelling whole when it is short, and by its parts side by side when it is not: a long enough part of it holds one whole. */
function needlesOf(value: string): Needle[] {
  const core = coreOf(value)
  const inAddress = encodeURIComponent(value)
  const whole = core === value ? [value, JSON.stringify(value).slice(1, -1), inAddress, inAddress.replace(/%../g, lower)] : [value, core]
  const bytes = Buffer.from(core)
  const encoded = [bytes.toString('hex'), bytes.toString('hex').toUpperCase(), ...inBase64(bytes)]
  const urls = encoded.slice(2).map(text => text.replaceAll('+', '-').replaceAll('/', '_'))
  return findable([...whole, ...encoded, ...urls]).flatMap(spelling => {
    const parts = spelling === value && core !== value ? [] : partsOf(spelling)
    return parts.length > 0 ? parts : [{ text: spelling, spelling, at: 0 }]
  })
}

/**
 * Also reversed, and in the base64 of UTF-16. A short one without a digit is words, and those stand in other texts with
 * other signs between them: a key of a model of one's own is often called `not-needed`.
 */
function bareNeedlesOf(value: string): Needle[] {
  const core = coreOf(value)
  const bytes = Buffer.from(core)
  const isWords = core.length < 2 * telemetryLimits.secretPartMin && !/\d/.test(core)
  const reversed = [...core].reverse().join('')
  const encoded = [bytes.toString('hex'), ...inBase64(bytes), ...inBase64(Buffer.from(core, 'utf16le')), reversed]
  return findable([...(isWords ? [] : [core]), ...encoded].map(spelling => bareOf(spelling))).flatMap(spelling => {
    const parts = partsOf(spelling)
    return parts.length > 0 ? parts : [{ text: spelling, spelling, at: 0 }]
  })
}

/** A key in PEM is found by its lines: its frame is no secret, and where its lines break is nobody's promise. */
function coreOf(value: string): string {
  return value.includes('-----BEGIN') ? value.replace(/-----[A-Z ]+-----/g, '').replace(/\s+/g, '') : value
}

function findable(spellings: readonly string[]): string[] {
  return [...new Set(spellings)].filter(spelling => spelling.length >= telemetryLimits.secretLengthMin)
}

const lower = (text: string) => text.toLowerCase()
const inBase64 = (bytes: Buffer) => [0, 1, 2].map(offset => base64At(bytes, offset))

/** The characters of base64 that depend on these bytes alone, when `offset` bytes (mod 3) stand before them. */
function base64At(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const whole = Math.floor(((offset + bytes.length) * 8) / 6)
  return text.slice(Math.ceil((offset * 8) / 6), whole)
}

/** None of a short one: a part of a password of two words is a word. */
function partsOf(spelling: string): Needle[] {
  if (spelling.length < 2 * telemetryLimits.secretPartMin) return []
  return Array.from({ length: Math.floor(spelling.length / telemetryLimits.secretPartMin) }, (_, index) => {
    const at = index * telemetryLimits.secretPartMin
    return { text: spelling.slice(at, at + telemetryLimits.secretPartMin), spelling, at }
  })
}
