import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { namespaceOf } from './engine.ts'
import { killPid } from './holder.ts'
import type { SandboxUser } from './sandbox.ts'

export type Orphan = { pid: number; command: string }

/**
 * Ends what a worker that was killed left behind: processes of a sandbox user whose parent is gone and that live in a user
 * namespace of their own. To be called at boot, before the first sandbox of that user is opened; anything else of the same
 * user, such as the worker itself in `single` mode, is in the host's namespace and is left alone.
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
    const namespace = readlinkSync(`/proc/${pid}/ns/user`)
    if (namespace === namespaceOf('self', 'user')) return []
    return [{ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').slice(0, 1).join('') }]
  } catch {
    // It ended meanwhile, or it is not ours to look at.
    return []
  }
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
