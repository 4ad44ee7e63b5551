import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentId } from './bwrap-arguments.ts'
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
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const program = (network: Parameters<typeof seccompProgram>[1]) => {
    const bytes = seccompProgram(architecture, network)
    return provide(folder, `${network}-${digest(bytes)}.bpf`, path => writeFileSync(path, bytes, { mode: 0o400 }))
  }
  return {
    etc: provide(folder, `etc-${digest(describeEtc(agentId))}`, path => {
      mkdirSync(path, { mode: 0o755 })
      chmodSync(path, 0o755)
      prepareEtc(path, agentId)
    }),
    seccomp: { commands: program('loopback'), fileHost: program('local') },
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

/** Made beside its place and put there in one step: two processes may do it at once, and one may be killed meanwhile. */
function provide(folder: string, name: string, make: (path: string) => void): string {
  const path = join(folder, name)
  if (existsSync(path)) return path
  const fresh = join(folder, `${unfinished}${randomBytes(8).toString('hex')}`)
  try {
    make(fresh)
    renameSync(fresh, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return path
}

function digest(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}
