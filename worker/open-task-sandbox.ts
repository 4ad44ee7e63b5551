import { existsSync } from 'node:fs'
import path from 'node:path'
import type { LimitValues } from '../config-schema/index.ts'
import {
  type Mount,
  type Network,
  openSandbox,
  passable,
  type Sandbox,
  type SandboxLimits,
  type SandboxOptions,
  sandboxLimitDefaults,
} from '../sandbox/index.ts'

/** The plain data every sandbox of a task is opened with; crosses the thread boundary. */
export type SandboxPlace = Pick<SandboxOptions, 'user' | 'masked' | 'policy' | 'readHost' | 'sharedDir'> & {
  /** Read-only toolchain folders of the operator, seen at the same path inside. */
  roots: readonly string[]
  wallMs: number
  /** The operator's own; what is not in it is fixed. */
  limits: Partial<SandboxLimits>
}

export type TaskSandboxOptions = {
  profile: string
  network: Network
  privateEgress?: NonNullable<SandboxOptions['privateEgress']>
  runDir: string
  workspace: { source: string; mode: 'ro' | 'rw' }
  mounts: readonly Mount[]
  files: boolean
  poolSize: number
}

export async function openTaskSandbox(place: SandboxPlace, options: TaskSandboxOptions): Promise<Sandbox> {
  const { roots, wallMs, limits, ...shared } = place
  // Passable for the session's user, not listable.
  passable(options.runDir)
  return await openSandbox({
    ...shared,
    ...options,
    ...rootsOf(roots, options.mounts),
    limits: { ...sandboxLimitDefaults, ...limits, wallMs },
  })
}

/** What of the operator's limits holds for every sandbox of a task. */
export function sandboxLimitsOf(limits: LimitValues): Partial<SandboxLimits> {
  return {
    cpuSeconds: limits.commandCpuSecondsMax,
    memoryBytes: limits.commandMemoryBytesMax,
    processesMax: limits.commandProcessesMax,
    fileBytesMax: limits.commandFileBytesMax,
    diskBytesMax: limits.commandDiskBytesMax,
    tmpBytesMax: limits.sessionTmpBytesMax,
    egressSentBytesMax: limits.setupSentBytesMax,
    egressReceivedBytesMax: limits.setupReceivedBytesMax,
  }
}

/** The operator's roots as mounts at the same path inside, besides others, and their programs on the search path. */
export function rootsOf(roots: readonly string[], mounts: readonly Mount[]): Pick<SandboxOptions, 'mounts' | 'path'> {
  return {
    mounts: [...mounts, ...roots.map(root => ({ source: root, target: root, mode: 'ro' as const }))],
    path: roots.flatMap(programsOf),
  }
}

/** Where a root keeps its programs: in its `bin`, or in itself when that is its name. */
function programsOf(root: string): string[] {
  if (path.basename(root) === 'bin') return [root]
  return existsSync(path.join(root, 'bin')) ? [path.join(root, 'bin')] : []
}

/** A sandbox in which the repository's own commands run: its work tree, its throwaway gitdir, the objects read-only. */
export function workOptions(workspace: { path: string; agentMounts: readonly Mount[] }, runDir: string) {
  return {
    network: { kind: 'none' } as Network,
    runDir,
    workspace: { source: workspace.path, mode: 'rw' as const },
    mounts: workspace.agentMounts,
    files: false,
    poolSize: 0,
  }
}
