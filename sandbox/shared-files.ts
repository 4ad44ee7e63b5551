import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { agentId } from './bwrap-arguments.ts'
import { passable } from './passable.ts'
import { describeEtc, prepareEtc } from './prepare-etc.ts'
import { seccompProgram } from './seccomp/program.ts'
import type { Architecture } from './seccomp/syscalls.ts'

/** What every sandbox of this machine has in common, read-only for all of them: its /etc and the system call filters. */
export type SharedFiles = { etc: string; seccomp: { commands: string; fileHost: string } }

/**
 * Makes them in a folder of the worker's own, or finds them there: their names say what they were made from, so that a
 * changed host gets new ones. The sandbox user must be able to pass through the folder; it can never write to it.
 */
export function provideSharedFiles(folder: string, architecture: Architecture): SharedFiles {
  passable(folder)
  const program = (network: Parameters<typeof seccompProgram>[1]) => {
    const bytes = seccompProgram(architecture, network)
    const isWhole = (path: string) => readFileSync(path).equals(bytes)
    return provide(folder, `${network}-${digest(bytes)}.bpf`, path => writeFileSync(path, bytes, { mode: 0o400 }), isWhole)
  }
  return {
    etc: provide(
      folder,
      `etc-${digest(describeEtc(agentId))}`,
      path => {
        mkdirSync(path, { mode: 0o755 })
        chmodSync(path, 0o755)
        prepareEtc(path, agentId)
        writeFileSync(join(path, listed), listing(path), { mode: 0o644 })
      },
      isEtcWhole,
    ),
    seccomp: { commands: program('loopback'), fileHost: program('local') },
  }
}

/** What was made, as a list in the folder itself. */
const listed = '.grokbot-listing'

function isEtcWhole(path: string): boolean {
  try {
    const wanted = readFileSync(join(path, listed), 'utf8')
    const now = JSON.parse(listing(path)) as [string, number | null][]
    return JSON.stringify(now.filter(([name]) => name !== listed)) === wanted
  } catch {
    return false
  }
}

/** Takes away what a process that was killed had not put in its place. Whoever is at it right now has an hour. */
export function removeUnfinishedShared(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter(name => name.startsWith(unfinished)) : []
  for (const path of names.map(name => join(folder, name))) {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat && stat.mtimeMs < Date.now() - unfinishedKeptMs) rmSync(path, { recursive: true, force: true })
  }
}

const unfinished = 'new-'
const unfinishedKeptMs = 3_600_000

/**
 * Made beside its place and put there in one step: two processes may do it at once, and one may be killed meanwhile. It is on
 * the disk before it has its name. `isWhole`: what lies there is still what was made; else it is put aside and made again.
 */
function provide(folder: string, name: string, make: (path: string) => void, isWhole: (path: string) => boolean): string {
  const path = join(folder, name)
  if (existsSync(path) && isWhole(path)) return path
  const fresh = join(folder, `${unfinished}${randomBytes(8).toString('hex')}`)
  try {
    make(fresh)
    syncAll(fresh)
    if (existsSync(path) && !isWhole(path)) renameSync(path, `${fresh}-damaged`)
    renameSync(fresh, path)
  } catch (error) {
    if (!existsSync(path) || !isWhole(path)) throw error
  } finally {
    for (const left of [fresh, `${fresh}-damaged`]) rmSync(left, { recursive: true, force: true })
  }
  return path
}

function syncAll(path: string): void {
  if (lstatSync(path).isSymbolicLink()) return
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) syncAll(join(path, name))
  const fd = openSync(path, 'r')
  fsyncSync(fd)
  closeSync(fd)
}

/** Names and sizes of everything below a folder, links not followed. */
function listing(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return JSON.stringify(names.map(name => [name, sizeOf(join(folder, name))]))
}

function sizeOf(path: string): number | null {
  const stat = lstatSync(path)
  return stat.isFile() ? stat.size : null
}

function digest(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}
