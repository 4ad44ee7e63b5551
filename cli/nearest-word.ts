const editsMax = 3

/** The one of these words that a misspelled one was most likely meant to be; null when none is close. */
export function nearestWord(given: string, words: readonly string[]): string | null {
  // Of a short word three letters are most of it.
  const allowed = Math.min(editsMax, Math.floor(given.length / 3))
  const close = words.filter(word => Math.abs(word.length - given.length) <= allowed)
  const found = close.map(word => ({ word, edits: editsBetween(given, word) })).sort((one, other) => one.edits - other.edits)[0]
  return found !== undefined && found.edits <= allowed ? found.word : null
}

/** How many letters have to be put in, taken out or exchanged to come from one to the other. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line]
    for (let at = 1; at <= to.length; at += 1) {
      const exchanged = (row[at - 1] ?? 0) + (from[line - 1] === to[at - 1] ? 0 : 1)
      next.push(Math.min(exchanged, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
