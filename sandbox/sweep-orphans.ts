import { readdirSync, readFileSync } from 'node:fs'
import { namespaceOf } from './engine.ts'
import { killPid, launchMark } from './launch.ts'
import type { SandboxUser } from './sandbox.ts'

export type Orphan = { pid: number; command: string }

/**
 * Ends what a worker that was killed left behind: processes of a sandbox user that carry our mark, whose parent is gone and
 * that live in a user namespace of their own. To be called at boot. Anything else of the same user is left alone: in `single`
 * mode that may be a rootless container or a browser, which look the same but for the mark.
 */
export function sweepOrphans(user: SandboxUser): Orphan[] {
  const orphans = readdirSync('/proc')
    .filter(name => /^[0-9]+$/.test(name))
    .map(Number)
    .flatMap(pid => describeOrphan(pid, user))
  for (const { pid } of orphans) killPid(pid)
  return orphans
}

function describeOrphan(pid: number, user: SandboxUser): Orphan[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
    const parent = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1])
    if (uid !== user.uid || !isReaper(parent) || /^State:\s+Z/m.test(status)) return []
    if (namespaceOf(pid, 'user') === namespaceOf('self', 'user') || !isOurs(pid)) return []
    return [{ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').slice(0, 1).join('') }]
  } catch {
    // It ended meanwhile, or it is not ours to look at.
    return []
  }
}

function isOurs(pid: number): boolean {
  const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  return Object.entries(launchMark).every(([name, value]) => environment.includes(`${name}=${value}`))
}

/** Orphans go to pid 1, or to the nearest process that asked for them (a user's service manager), which is no bwrap. */
function isReaper(pid: number): boolean {
  if (pid === 1) return true
  try {
    return /^(systemd|init|tini|dumb-init|docker-init|catatonit)$/.test(readFileSync(`/proc/${pid}/comm`, 'latin1').trim())
  } catch {
    return false
  }
}
