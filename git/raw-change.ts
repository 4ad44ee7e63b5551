/** One record of `--raw -z --no-abbrev`. `path` is the new side's; `from` is set for a rename or a copy. */
export type RawChange = {
  oldMode: string
  newMode: string
  oldId: string
  newId: string
  status: string
  path: Buffer
  from: Buffer | null
}

export function parseRaw(output: Buffer): RawChange[] {
  return parseRawHead(output).changes
}

/** Reads records while they start with a colon, and says where the rest begins (`--raw --numstat` prints both). */
export function parseRawHead(output: Buffer): { changes: RawChange[]; rest: number } {
  const changes: RawChange[] = []
  let at = 0
  const field = () => {
    const end = output.indexOf(0, at)
    if (end < 0) throw new Error('git ended inside a record')
    const bytes = output.subarray(at, end)
    at = end + 1
    return bytes
  }
  while (at < output.length && output[at] === 0x3a) {
    const [oldMode, newMode, oldId, newId, status] = field().toString('latin1').slice(1).split(' ') as [
      string,
      string,
      string,
      string,
      string,
    ]
    const first = field()
    const moved = status.startsWith('R') || status.startsWith('C')
    const path = moved ? field() : first
    changes.push({ oldMode, newMode, oldId, newId, status: status.slice(0, 1), path, from: moved ? first : null })
  }
  return { changes, rest: at }
}
