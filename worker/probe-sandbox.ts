import { chownSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { SandboxReport } from '../domain/index.ts'
import { passable } from '../sandbox/index.ts'
import { openTaskSandbox, type SandboxPlace, workOptions } from './open-task-sandbox.ts'
import { TaskFault } from './task-fault.ts'

/** A measurement that was begun ahead. */
export type Probe = {
  profile: string
  /** Throws when there is no sandbox here. */
  report: Promise<SandboxReport>
  /** Resolves when nothing of it is left, however it went. */
  gone: Promise<void>
}

/**
 * What a profile really gives here, measured in an empty folder by running nothing in it. It takes as long as the mirror
 * does, and neither needs the other, so it is begun first and waited for before anything of the repository is used.
 */
export function beginProbe(place: SandboxPlace, profile: string, runDir: string): Probe {
  const measured = measure(place, profile, runDir)
  const report = measured.then(({ report }) => report)
  // Both are waited for later, or never when the task ends before.
  report.catch(() => {})
  const gone = measured.then(
    ({ closed }) => closed.catch(() => {}),
    () => {},
  )
  return { profile, report, gone }
}

async function measure(place: SandboxPlace, profile: string, runDir: string): Promise<{ report: SandboxReport; closed: Promise<void> }> {
  const empty = path.join(runDir, 'empty')
  passable(runDir)
  await mkdir(empty, { recursive: true, mode: 0o700 })
  if (process.getuid?.() === 0) chownSync(empty, place.user.uid, place.user.gid)
  const sandbox = await openTaskSandbox(place, { profile, ...workOptions({ path: empty, agentMounts: [] }, runDir) })
  const closed = sandbox.close()
  if (sandbox.unavailable === null) return { report: sandbox.report, closed }
  await closed
  throw new TaskFault('sandbox-refused', `no sandbox here, so nothing is run: ${sandbox.unavailable.reason}`)
}
