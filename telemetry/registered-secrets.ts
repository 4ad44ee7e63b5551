/**
 * The credentials this process holds. Each is looked for in every spelling in which it would still be one: as it is, as
 * JSON, in a URL, in hex, in base64 at each of its three offsets, with its beginning or end cut off.
 */
type Registered = {
  /** Longest first: a shorter one may be a part of it. */
  spellings: readonly string[]
  /** Parts of the spellings, side by side: a long enough part of a spelling holds at least one whole. */
  pieces: readonly Piece[]
  /** UTC milliseconds; Infinity = until the process ends. */
  expiresAt: number
}
type Piece = { text: string; spelling: string; at: number }

const registered = new Map<string, Registered>()
const secretLengthMin = 8
/** So long must a part be to be looked for alone: shorter ones stand in other texts too. */
const pieceLength = 16
/** Of credentials that expire. One that is dropped early is still known by its shape. */
const expiringMax = 500
/** A clock of ours may be behind the one that says when a credential ends. */
const clockSkewMs = 300_000

/** From now on this value is replaced wherever text passes `redact`, until `expiresAt` (UTC milliseconds) when it is given. */
export function registerSecret(value: string, expiresAt = Number.POSITIVE_INFINITY, now = Date.now()): void {
  if (value.length < secretLengthMin) return
  for (const [other, { expiresAt: end }] of registered) if (end + clockSkewMs < now) registered.delete(other)
  registered.delete(value)
  registered.set(value, { ...spell(value), expiresAt })
  const expiring = [...registered].filter(([, { expiresAt: end }]) => end !== Number.POSITIVE_INFINITY)
  for (const [other] of expiring.slice(0, Math.max(0, expiring.length - expiringMax))) registered.delete(other)
}

/** Those that do not expire, for a thread of this process, which has a memory of its own. */
export function lastingSecrets(): string[] {
  return [...registered].flatMap(([value, { expiresAt }]) => (expiresAt === Number.POSITIVE_INFINITY ? [value] : []))
}

export function registeredCount(): number {
  return registered.size
}

/** Replaces what is registered, and long enough parts of it, and nothing else. */
export function redactRegistered(text: string): string {
  let clean = text
  for (const { spellings, pieces } of registered.values()) {
    for (const spelling of spellings) if (clean.includes(spelling)) clean = clean.replaceAll(spelling, '[redacted]')
    for (const piece of pieces) {
      for (let at = clean.indexOf(piece.text); at !== -1; at = clean.indexOf(piece.text, at)) clean = cutAround(clean, at, piece)
    }
  }
  return clean
}

/** Whether a part of one would come together again if all that is no letter, digit or base64 were left out between. */
export function holdsSplitSecret(text: string): boolean {
  const squeezed = text.replace(/[^A-Za-z0-9+/=_-]+/g, '')
  return [...registered.values()].some(({ pieces }) => pieces.some(piece => squeezed.includes(piece.text)))
}

function cutAround(text: string, found: number, { text: piece, spelling, at }: Piece): string {
  let [start, end] = [found, found + piece.length]
  while (start > 0 && at - (found - start) > 0 && text[start - 1] === spelling[at - (found - start) - 1]) start -= 1
  while (end < text.length && text[end] === spelling[at + (end - found)]) end += 1
  return `${text.slice(0, start)}[redacted]${text.slice(end)}`
}

function spell(value: string): Pick<Registered, 'spellings' | 'pieces'> {
  // A key in PEM is found by its lines: its frame is no secret, and where its lines break is nobody's promise.
  const core = value.includes('-----BEGIN') ? value.replace(/-----[A-Z ]+-----/g, '').replace(/\s+/g, '') : value
  const whole = core === value ? [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)] : [value, core]
  const bytes = Buffer.from(core)
  const encoded = [bytes.toString('hex'), bytes.toString('hex').toUpperCase(), ...[0, 1, 2].map(offset => base64At(bytes, offset))]
  const spellings = [...new Set([...whole, ...encoded, ...encoded.slice(2).map(text => text.replaceAll('+', '-').replaceAll('/', '_'))])]
    .filter(spelling => spelling.length >= secretLengthMin)
    .sort((a, b) => b.length - a.length)
  return { spellings, pieces: spellings.filter(spelling => spelling !== value || core === value).flatMap(piecesOf) }
}

/** The characters of base64 that depend on these bytes alone, when `offset` bytes (mod 3) stand before them. */
function base64At(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const whole = Math.floor(((offset + bytes.length) * 8) / 6)
  return text.slice(Math.ceil((offset * 8) / 6), whole)
}

/** None of a short one: a part of a password of two words is a word. */
function piecesOf(spelling: string): Piece[] {
  if (spelling.length < 2 * pieceLength) return []
  return Array.from({ length: Math.floor(spelling.length / pieceLength) }, (_, index) => {
    const at = index * pieceLength
    return { text: spelling.slice(at, at + pieceLength), spelling, at }
  })
}
