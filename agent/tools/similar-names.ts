import { posix } from 'node:path'
import type { FileHost } from '../ports.ts'

const entriesMax = 2_000
const hintsMax = 3
const distanceMax = 3

/** A sentence with the names in the same folder that are most like the missing one; empty when there are none. */
export async function nameHint(path: string, files: FileHost): Promise<string> {
  const folder = posix.dirname(path)
  const wanted = posix.basename(path)
  const listed = await files.list(folder, entriesMax)
  if (listed.kind === 'fault') return ''
  const close = listed.entries
    .map(entry => ({ name: entry.name, distance: likeness(wanted, entry.name) }))
    .filter(candidate => candidate.distance <= distanceMax)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, hintsMax)
    .map(candidate => JSON.stringify(posix.join(folder, candidate.name)))
  return close.length > 0 ? ` Did you mean ${close.join(' or ')}?` : ''
}

/** 0 = the same letters but for case and Unicode form; else the edits between them. */
function likeness(wanted: string, name: string): number {
  const left = fold(wanted)
  const right = fold(name)
  if (left === right) return 0
  const stem = (text: string) => text.replace(/\.[^.]*$/, '')
  if (stem(left) === stem(right)) return 1
  return Math.abs(left.length - right.length) > distanceMax ? distanceMax + 1 : editDistance(left, right)
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1
      current.push(Math.min((previous[column] as number) + 1, (current[column - 1] as number) + 1, (previous[column - 1] as number) + same))
    }
    previous = current
  }
  return previous[right.length] as number
}
