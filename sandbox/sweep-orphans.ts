import { readdirSync, readFileSync } from 'node:fs'
import { namespaceOf } from './engine.ts'
import { killPid, markName, markOf } from './launch.ts'
import type { SandboxUser } from './sandbox.ts'

export type Orphan = { pid: number; command: string }

/**
 * Ends what a worker that was killed left behind: processes of a sandbox user that carry the mark of a process that is gone,
 * whose parent is gone too and that live in a user namespace of their own. Safe at any time and from any process: what a
 * living worker started is left alone, also where that worker is pid 1 and so the parent of orphans as well. Anything else
 * of the same user is left alone: in `single` mode that may be a rootless container or a browser, which look the same but
 * for the mark.
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
    if (namespaceOf(pid, 'user') === namespaceOf('self', 'user') || !isOfDeadOwner(pid)) return []
    return [{ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').slice(0, 1).join('') }]
  } catch {
    // It ended meanwhile, or it is not ours to look at.
    return []
  }
}

/** A number alone would be another process's before long: the mark has the time its owner was started too. */
function isOfDeadOwner(pid: number): boolean {
  const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  const mark = environment.find(entry => entry.startsWith(`${markName}=`))?.slice(markName.length + 1)
  return mark !== undefined && markOf(Number.parseInt(mark, 10)) !== mark
}

/**
 * Orphans go to pid 1, or to the nearest process that asked for them (a user's service manager), which is no bwrap. A worker
 * in a container below numbers itself otherwise than we see it and looks dead from here; but then it is the parent, or bwrap
 * is, and neither takes in orphans.
 */
function isReaper(pid: number): boolean {
  if (pid === 1) return true
  try {
    return /^(systemd|init|tini|dumb-init|docker-init|catatonit)$/.test(readFileSync(`/proc/${pid}/comm`, 'latin1').trim())
  } catch {
    return false
  }
}
