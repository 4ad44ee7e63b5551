/** The first `bytesMax` bytes of a text, never cutting a character, with a mark where it was cut. */
export function clip(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  const bytes = Buffer.from(text).subarray(0, bytesMax)
  // A character may have up to four bytes: the decoder drops the part of one that the cut left behind.
  const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
  return `${whole}…`
}
