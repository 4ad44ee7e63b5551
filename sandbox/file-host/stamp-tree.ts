import { createHash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { type Fault, fault, faultOf } from './fault.ts'

export type StampAnswer = Fault | { kind: 'stamped'; stamp: string; settled: boolean }

/** The kernel dates a change with a clock that ticks: what was changed this lately may be changed again and keep its date. */
const tickMs = 20
const [slash, gitDir] = [Buffer.from('/'), Buffer.from('.git')]

/**
 * A digest of what the kernel says of everything below a folder: inode, mode, size, and when it was last changed, which no
 * program can set back. Equal stamps mean that nothing was changed in between, if the earlier one was `settled`: nothing in
 * it was younger than a tick. The `.git` of the folder itself is left out. `too-large` above `entriesMax` entries.
 */
export function stampTree(root: string, entriesMax: number, nowMs = Date.now()): StampAnswer {
  const young = nowMs - tickMs
  const digest = createHash('sha256')
  const folders = [Buffer.from(root)]
  let [entries, settled] = [0, true]
  try {
    for (let folder = folders.pop(); folder; folder = folders.pop()) {
      const names = readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare)
      entries += names.length
      if (entries > entriesMax) return fault('too-large', `more than ${entriesMax} entries`)
      let lines = `${names.length}\n`
      for (const name of names) {
        if (folder.byteLength === root.length && name.equals(gitDir)) continue
        const path = Buffer.concat([folder, slash, name])
        const stat = lstatSync(path)
        lines += `${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${name.toString('latin1')}\0`
        settled &&= stat.ctimeMs < young
        if (stat.isDirectory()) folders.push(path)
      }
      digest.update(lines, 'latin1')
    }
    return { kind: 'stamped', stamp: digest.digest('hex'), settled }
  } catch (error) {
    return faultOf(error)
  }
}
