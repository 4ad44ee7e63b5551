/** A text to be found: all of a spelling, or a part of it that begins at `at`. */
export type Needle = { text: string; spelling: string; at: number }

export type NeedleIndex = {
  add(needle: Needle): void
  remove(needle: Needle): void
  /** Calls `found` for each needle at each place of the text, until it returns true. */
  scan(text: string, found: (place: number, needle: Needle) => boolean): void
}

/** Longest first. Needles are told apart by this much of their beginning, and none is shorter than the last. */
const windowLengths = [16, 8] as const
/** Of the table of hashes, 2^18 places: with 15,000 needles, of 500 credentials, one window in twenty is looked at twice. */
const slotBits = 18
const base = 0x01000193

/**
 * Looks for any number of needles in one pass over a text for each window's length: the hash of a window rolls with it, and
 * only where a needle has the same one are characters compared.
 */
export function createNeedleIndex(): NeedleIndex {
  const windows = windowLengths.map(createWindow)
  const windowOf = ({ text }: Needle) => windows.find(({ length }) => text.length >= length)
  return {
    add(needle) {
      windowOf(needle)?.add(needle)
    },
    remove(needle) {
      windowOf(needle)?.remove(needle)
    },
    scan(text, found) {
      windows.some(window => window.scan(text, found))
    },
  }
}

function createWindow(length: number) {
  const needles = new Map<string, Needle[]>()
  let counts = new Uint32Array(0)
  const keyOf = ({ text }: Needle) => text.slice(0, length)
  return {
    length,
    add(needle: Needle) {
      if (counts.length === 0) counts = new Uint32Array(2 ** slotBits)
      const key = keyOf(needle)
      needles.set(key, [...(needles.get(key) ?? []), needle])
      bump(counts, slotOf(hashOf(key)), 1)
    },
    remove(needle: Needle) {
      const key = keyOf(needle)
      const others = (needles.get(key) ?? []).filter(other => other !== needle)
      if (others.length === 0) needles.delete(key)
      else needles.set(key, others)
      bump(counts, slotOf(hashOf(key)), -1)
    },
    scan(text: string, found: (place: number, needle: Needle) => boolean): boolean {
      if (needles.size === 0 || text.length < length) return false
      const leaving = power(length)
      let hash = hashOf(text.slice(0, length))
      for (let end = length; ; end++) {
        if (counts[slotOf(hash)] !== 0) {
          const place = end - length
          const here = needles.get(text.slice(place, end)) ?? []
          for (const needle of here) if (text.startsWith(needle.text, place) && found(place, needle)) return true
        }
        if (end >= text.length) return false
        hash = (Math.imul(hash, base) + text.charCodeAt(end) - Math.imul(text.charCodeAt(end - length), leaving)) | 0
      }
    },
  }
}

function bump(counts: Uint32Array, slot: number, by: number): void {
  counts[slot] = (counts[slot] ?? 0) + by
}

function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0
  return hash
}

function power(exponent: number): number {
  let result = 1
  for (let count = 0; count < exponent; count++) result = Math.imul(result, base)
  return result
}

function slotOf(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> (32 - slotBits)
}
