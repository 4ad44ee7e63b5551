/** Whole numbers from 0 to below `below`; the same seed always gives the same ones. */
export function seededRandom(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761) >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
