/** Lines of a content; a last line without its line end counts too. */
export function countLines(content: Uint8Array): number {
  let count = 0
  for (let index = content.indexOf(0x0a); index >= 0; index = content.indexOf(0x0a, index + 1)) count++
  return content.byteLength > 0 && content[content.byteLength - 1] !== 0x0a ? count + 1 : count
}
