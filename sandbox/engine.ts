import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The host programs the engine is made of, by absolute path. */
export type Engine = { bwrap: string; nsenter: string; shell: string; mkfifo: string; ripgrep: string | null; node: string }

export type EngineFound = { kind: 'found'; engine: Engine } | { kind: 'missing'; program: string; reason: string }

/**
 * Finds the engine's programs in fixed places, never by PATH, and refuses one that anybody but root could have replaced:
 * a search path could lead into a workspace.
 */
export function findEngine(): EngineFound {
  const paths: Record<string, string> = {}
  for (const [program, places] of Object.entries(programs)) {
    const found = places.find(place => statSync(place, { throwIfNoEntry: false })?.isFile())
    if (!found)
      return { kind: 'missing', program, reason: `${program} is not installed (looked at ${places.join(', ')}); ${remedies[program]}` }
    const fault = ownershipFault(found)
    if (fault) return { kind: 'missing', program, reason: fault }
    paths[program] = found
  }
  const { bwrap, nsenter, shell, mkfifo } = paths as { bwrap: string; nsenter: string; shell: string; mkfifo: string }
  const ripgrep = ['/usr/bin/rg', '/usr/local/bin/rg'].find(place => isExecutable(place)) ?? null
  return { kind: 'found', engine: { bwrap, nsenter, shell, mkfifo, ripgrep, node: realpathSync(process.execPath) } }
}

const programs: Record<string, string[]> = {
  bwrap: ['/usr/bin/bwrap', '/usr/local/bin/bwrap'],
  nsenter: ['/usr/bin/nsenter', '/bin/nsenter'],
  // dash starts in a third of the time bash needs.
  shell: ['/usr/bin/dash', '/bin/dash', '/bin/sh'],
  mkfifo: ['/usr/bin/mkfifo', '/bin/mkfifo'],
}

const remedies: Record<string, string> = {
  bwrap: 'install the package bubblewrap',
  nsenter: 'install the package util-linux',
  shell: 'install the package dash',
  mkfifo: 'install the package coreutils',
}

/** Every folder above a program must be root's and not writable by others, or the program could be swapped. */
function ownershipFault(path: string): string | null {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const stat = lstatSync(at)
    if (stat.uid !== 0 || (stat.mode & 0o022) !== 0) return `${path} is not trusted: ${at} does not belong to root alone`
    if (at === dirname(at)) return null
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** `user:[4026531837]` of a process, as the kernel names its namespaces; null when it is gone or not ours to look at. */
export function namespaceOf(pid: number | 'self', name: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/${name}`)
  } catch {
    return null
  }
}
