import { renderLink } from '../domain/index.ts'
import { readLinkKey } from './open-pages.ts'
import type { Parts } from './parts.ts'

/** Where people read about a task, the same at every call; null: nobody said where this installation is reached from outside. */
export function pageLink({ environment, dataDir, settings }: Parts): ((taskId: string, acceptedAt: number) => string) | null {
  const baseUrl = environment.GROKBOT_URL
  if (baseUrl === undefined) return null
  const key = readLinkKey(dataDir)
  return (taskId, acceptedAt) => renderLink({ baseUrl, taskId, now: acceptedAt, keepMs: settings().limits.linkKeepMs }, key)
}
