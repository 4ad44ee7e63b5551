import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bareConfig, writeRepository } from './bare-repository.ts'
import type { Mirror, Store } from './git.ts'
import { passable, safeName } from './mirror.ts'

/** Opens or makes a task's own repository. It borrows the mirror's objects and is the host's alone. */
export function openStore({ dataDir, mirror, taskId }: { dataDir: string; mirror: Mirror; taskId: string }): Store {
  passable(tasksFolder(dataDir))
  const folder = passable(taskFolder(dataDir, taskId))
  const path = join(folder, 'store.git')
  if (!existsSync(join(path, 'HEAD'))) {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    writeRepository(path, { head: 'ref: refs/heads/none', config: bareConfig, alternates: [mirror.objects], objects: true })
  }
  return { path, mirror }
}

export function taskFolder(dataDir: string, taskId: string): string {
  return join(tasksFolder(dataDir), safeName(taskId))
}

export function tasksFolder(dataDir: string): string {
  return join(dataDir, 'git', 'tasks')
}
