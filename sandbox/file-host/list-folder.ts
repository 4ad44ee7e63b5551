import { lstatSync, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { type Fault, faultOf } from './fault.ts'

type Entry = { name: string; type: 'file' | 'dir' | 'link' | 'other'; bytes: number }

/** The entries of one folder, sorted by name; `more` when there are others than the `entriesMax` listed. */
export function listFolder(path: string, entriesMax: number): Fault | { kind: 'listed'; entries: Entry[]; more: boolean } {
  try {
    const names: string[] = []
    const folder = opendirSync(path)
    try {
      // Bounded even for a folder of a million entries, at the price that the cut is then not the first in order.
      for (let entry = folder.readSync(); entry && names.length < namesMax; entry = folder.readSync()) names.push(entry.name)
    } finally {
      folder.closeSync()
    }
    names.sort()
    const entries = names.slice(0, entriesMax).flatMap(name => describe(join(path, name), name))
    return { kind: 'listed', entries, more: names.length > entriesMax }
  } catch (error) {
    return faultOf(error)
  }
}

const namesMax = 100_000

function describe(path: string, name: string): Entry[] {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return []
  const type = stat.isFile() ? 'file' : stat.isDirectory() ? 'dir' : stat.isSymbolicLink() ? 'link' : 'other'
  return [{ name, type, bytes: stat.size }]
}
