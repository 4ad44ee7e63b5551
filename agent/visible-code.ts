/** Where a Markdown text shows code: what stands there is seen by everybody, whatever it looks like. */
export type VisibleCode = {
  /** Numbers of the lines inside code blocks, from 0. */
  lines: ReadonlySet<number>
  /** Stretches of inline code, `from` to `to` in the text. */
  spans: readonly { from: number; to: number }[]
}

/**
 * By the parser of CommonMark, as a line of backticks is a fence for a person only where it is one for GitHub: inside an
 * HTML block it is not. Loaded when it is needed, which few issues do.
 */
export async function findVisibleCode(text: string): Promise<VisibleCode> {
  const { default: MarkdownIt } = await import('markdown-it')
  const tokens = new MarkdownIt({ html: true }).parse(text, {})
  const lines = new Set<number>()
  for (const token of tokens) {
    if ((token.type !== 'fence' && token.type !== 'code_block') || token.map === null) continue
    for (let line = token.map[0]; line < token.map[1]; line++) lines.add(line)
  }
  const contents = tokens.flatMap(token => (token.children ?? []).filter(child => child.type === 'code_inline').map(child => child.content))
  return { lines, spans: findSpans(text, contents) }
}

/**
 * The parser does not say where inline code stands. A place that reads like it counts only if every such place is code: then
 * none of them lies in a comment, and what is kept for one of them is in any case something a person can read.
 */
function findSpans(text: string, contents: readonly string[]): { from: number; to: number }[] {
  return [...new Set(contents)].flatMap(content => {
    const words = content.split(/\s+/).map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const places = [...text.matchAll(new RegExp(`(?<!\`)(\`+)\\s?${words.join('\\s+')}\\s?\\1(?!\`)`, 'g'))]
    if (places.length !== contents.filter(other => other === content).length) return []
    return places.map(place => ({ from: place.index, to: place.index + place[0].length }))
  })
}
