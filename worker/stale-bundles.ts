import { mkdir, open, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { namesIn } from './names-in.ts'

/**
 * Marks that say "the bundle of this task is to hold the event with this number": made before the event is recorded, so that
 * whoever comes after a process that died in between finds it. One file each, named by task and number, beside the tasks'
 * folders: nobody reads and rewrites another's mark, and one listing finds all of them, however many tasks have ended.
 */
export type StaleMark = { taskId: string; seq: number }

export async function markStale(taskDir: string, seq: number): Promise<void> {
  await mkdir(path.dirname(taskDir), { recursive: true, mode: 0o700 })
  const handle = await open(fileOf(taskDir, seq), 'w', 0o600)
  try {
    // The event is durable once it is recorded; so must be what announces it.
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Of all tasks whose folders lie in `tasksDir`. */
export async function listStale(tasksDir: string): Promise<StaleMark[]> {
  return (await namesIn(tasksDir)).flatMap(name => {
    const [, taskId, seq] = /^(.+)\.(\d+)\.stale$/.exec(name) ?? []
    return taskId && seq ? [{ taskId, seq: Number(seq) }] : []
  })
}

/** Takes the marks up to `seq` away: only for who has seen a bundle on disk that holds that event. */
export async function clearStale(taskDir: string, seq: number): Promise<void> {
  for (const mark of await marksOf(taskDir)) if (mark.seq <= seq) await rm(fileOf(taskDir, mark.seq), { force: true })
}

/** Takes away those older than `before`: whoever was to record their event died first, and the event never came. */
export async function dropStaleBefore(taskDir: string, before: number): Promise<void> {
  for (const mark of await marksOf(taskDir)) {
    const made = await stat(fileOf(taskDir, mark.seq)).catch(() => null)
    if (made && made.mtimeMs < before) await rm(fileOf(taskDir, mark.seq), { force: true })
  }
}

function fileOf(taskDir: string, seq: number): string {
  return `${taskDir}.${seq}.stale`
}

async function marksOf(taskDir: string): Promise<StaleMark[]> {
  return (await listStale(path.dirname(taskDir))).filter(({ taskId }) => taskId === path.basename(taskDir))
}
