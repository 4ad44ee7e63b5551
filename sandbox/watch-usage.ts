import { readdirSync, readFileSync, type StatsFs, statfsSync } from 'node:fs'
import { engineLimits } from './limits.ts'
import type { KilledBy, SandboxLimits } from './sandbox.ts'

type Watched = { limits: SandboxLimits; disk: string | null; tmp: string | null }
export type Usage = { memoryBytes: number; cpuSeconds: number; writtenBytes: number; processes: number }

/**
 * Looks at a sandbox's processes every 250 ms and names the limit they have passed together. The kernel's own limits are
 * per process; this one is not exact (a peak between two looks is missed) but bounds their sum.
 */
export function watchUsage(pid: number, watched: Watched, killFor: (reason: KilledBy) => void): () => void {
  const before = watched.disk === null ? null : inodesUsed(watched.disk)
  const timer = setInterval(() => {
    const reason = exceeded(readUsage(pid), watched, before)
    if (reason) killFor(reason)
  }, engineLimits.watchIntervalMs)
  return () => clearInterval(timer)
}

function exceeded(usage: Usage, { limits, disk, tmp }: Watched, inodesBefore: number | null): KilledBy | null {
  if (usage.memoryBytes > limits.memoryBytes) return 'memory'
  if (usage.cpuSeconds > limits.cpuSeconds) return 'cpu'
  if (usage.processes >= engineLimits.watchedProcessesMax) return 'processes'
  if (usage.writtenBytes > limits.diskBytesMax) return 'disk'
  if (tmp !== null && (inodesUsed(tmp) ?? 0) > limits.inodesMax) return 'disk'
  return disk !== null && diskIsShort(disk, inodesBefore, limits) ? 'disk' : null
}

function diskIsShort(disk: string, inodesBefore: number | null, limits: SandboxLimits): boolean {
  const stat = statOf(disk)
  if (!stat) return false
  const used = stat.files - stat.ffree
  // A file system without inode numbers (btrfs) says 0 of 0.
  const fewInodes = stat.files > 0 && stat.ffree < engineLimits.inodeReserve
  return (
    stat.bavail * stat.bsize < engineLimits.diskReserveBytes ||
    fewInodes ||
    (inodesBefore !== null && used - inodesBefore > limits.inodesMax)
  )
}

function inodesUsed(path: string): number | null {
  const stat = statOf(path)
  return stat ? stat.files - stat.ffree : null
}

function statOf(path: string): StatsFs | null {
  try {
    return statfsSync(path)
  } catch {
    return null
  }
}

/** Sums over the process tree below `pid`. Children that ended count through the parent that waited for them. */
export function readUsage(pid: number): Usage {
  const usage: Usage = { memoryBytes: 0, cpuSeconds: 0, writtenBytes: 0, processes: 0 }
  const waiting = [pid]
  while (waiting.length > 0 && usage.processes < engineLimits.watchedProcessesMax) {
    const next = waiting.pop() as number
    usage.processes += 1
    try {
      addProcess(next, usage)
      waiting.push(...childrenOf(next))
    } catch {
      // It ended between being listed and being read.
    }
  }
  return usage
}

function addProcess(pid: number, usage: Usage): void {
  // The name in brackets may hold anything; the numbers start after the last bracket. Fields are those of proc(5).
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
  usage.cpuSeconds += ticks / ticksPerSecond
  // In kibibytes whatever the page size is; a zombie has no such line.
  const resident = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  usage.memoryBytes += Number(resident ?? 0) * 1024
  const written = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1]
  usage.writtenBytes += Number(written ?? 0)
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap(thread =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
      .split(' ')
      .filter(text => text !== '')
      .map(Number),
  )
}

/** USER_HZ is 100 on every Linux this runs on; the kernel converts to it whatever its own rate is. */
const ticksPerSecond = 100
