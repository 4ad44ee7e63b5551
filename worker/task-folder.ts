import path from 'node:path'

/** Everything of a task on disk that outlives its attempts: its patch and its bundle. */
export function taskFolder(dataDir: string, taskId: string): string {
  return path.join(tasksFolder(dataDir), taskId)
}

export function tasksFolder(dataDir: string): string {
  return path.join(dataDir, 'tasks')
}
