/** Lines of a content; a last line without its line end counts too. */
export function countLines(content: Uint8Array): number {
  let count = 0
  for (let index = content.indexOf(0x0a); index >= 0; index = content.indexOf(0x0a, index + 1)) count++
  return content.byteLength > 0 && content[content.byteLength - 1] !== 0x0a ? count + 1 : count
}

/** The lines of a content, as `countLines` counts them. */
export function linesOf(content: Uint8Array): string[] {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8')
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** Lines that differ, for `+9 -2`. */
export function changedLines(before: readonly string[], after: readonly string[]): { added: number; removed: number } {
  const most = Math.min(before.length, after.length)
  let same = 0
  while (same < most && before[same] === after[same]) same++
  let sameAfter = 0
  while (sameAfter < most - same && before.at(-1 - sameAfter) === after.at(-1 - sameAfter)) sameAfter++
  return { added: after.length - same - sameAfter, removed: before.length - same - sameAfter }
}
