/**
 * A terminal as far as the live view uses one: text, line ends, return, cursor up, erase to the end, and dim. It fails on
 * any other control, and counts how far up the cursor ever went: what is above is the scrollback, which nobody rewrites.
 */
export function openTerminal(columns: number) {
  let lines: string[] = ['']
  let row = 0
  let column = 0
  let upMax = 0
  function put(character: string) {
    const line = (lines[row] ?? '').padEnd(column)
    lines[row] = line.slice(0, column) + character + line.slice(column + 1)
    column += 1
    if (column > columns) throw new Error(`a line is longer than ${columns} columns: ${lines[row]}`)
  }
  function control(text: string): number {
    const match = /^\[(\d*)([A-Za-z])/.exec(text.slice(1))
    if (!match) throw new Error(`not a control the view may use: ${JSON.stringify(text.slice(0, 8))}`)
    const [all, count, letter] = match
    if (letter === 'A') {
      row = Math.max(0, row - Number(count))
      upMax = Math.max(upMax, lines.length - 1 - row)
    } else if (letter === 'J') {
      lines = lines.slice(0, row + 1)
      lines[row] = (lines[row] ?? '').slice(0, column)
    } else if (letter !== 'm') throw new Error(`not a control the view may use: ${JSON.stringify(all)}`)
    return 1 + all.length
  }
  const stream = {
    isTTY: true,
    columns,
    write(text: string) {
      for (let at = 0; at < text.length; at += 1) {
        const character = text[at] ?? ''
        if (character === '\n') {
          row += 1
          column = 0
          lines[row] ??= ''
        } else if (character === '\r') column = 0
        else if (character === '\u001b') at += control(text.slice(at)) - 1
        else put(character)
      }
      return true
    },
  }
  return {
    stream: stream as unknown as NodeJS.WriteStream,
    lines: () => lines.map(line => line.trimEnd()),
    rowsRewritten: () => upMax,
  }
}
