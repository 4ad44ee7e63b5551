import { createHash, timingSafeEqual } from 'node:crypto'

/** Takes as long for one that is nearly right as for any other: for tokens and signatures that strangers may guess at. */
export function isSameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
