import { findCommand, hasRole } from '../domain/index.ts'
import { classifyError, readThreadStanding, type ThreadStanding } from '../github/index.ts'
import { placeOf } from './effect-ports.ts'
import { type Fallen, fallen } from './fallen.ts'
import type { Task } from './task.ts'
import { withPatience } from './with-patience.ts'

/**
 * What has changed since the task was accepted, so that nothing of it may be written any more: who asked for it has lost the
 * role it needs, above all. Null: nothing has. Read once a delivery, right before the first thing that people see of it.
 */
export async function standingNow(task: Task): Promise<Fallen | null> {
  const standing = await readStanding(task)
  // No token for the place: each rung finds that out by itself, and says it.
  if (standing === null) return null
  if ('refused' in standing) return fallen('place-gone', `this repository can not be read any more (GitHub said ${standing.refused})`)
  const { requester, command } = task.accepted
  if (standing.archived) return fallen('archived-meanwhile', 'this repository was archived meanwhile')
  if (standing.thread === 'gone')
    return fallen('thread-gone', `the ${task.accepted.subject?.kind === 'pull' ? 'pull request' : 'issue'} this was asked on is gone`)
  if (standing.thread === 'locked') return fallen('locked-meanwhile', 'this conversation was locked meanwhile')
  const needs = findCommand(command.verb)?.needs ?? 'write'
  if (isListed(task) || hasRole(standing.role, needs)) return null
  return fallen('access-gone', `@${requester.login} has no ${needs} access any more`)
}

/** A bot has no role of its own: the operator who lists it lets it write. */
function isListed({ accepted, settings }: Task): boolean {
  return settings.operator.bots?.includes(accepted.requester.id) ?? false
}

async function readStanding(task: Task): Promise<ThreadStanding | { refused: string } | null> {
  const { owner, repo, repositoryId, installationId } = placeOf(task)
  const { subject, requester } = task.accepted
  const { github } = task.ports
  if (github === null || subject === null) return null
  return await withPatience(task, 'reading the repository', async () => {
    const permissions = { metadata: 'read', contents: 'read', [subject.kind === 'pull' ? 'pull_requests' : 'issues']: 'read' } as const
    const request = { installationId, repositoryId, permissions, for: { taskId: task.id, attempt: task.attempt } }
    const minted = await forGood(github.mint(request))
    if ('refused' in minted) return null
    const read = await forGood(
      readThreadStanding(github.api(minted.done.token), { owner, repo }, { number: subject.number, person: requester }),
    )
    return 'refused' in read ? read : read.done
  })
}

/** What GitHub refuses for good is an answer; whatever else it is throws. 401 is about the App's key, and says nothing of the place. */
async function forGood<T>(asked: Promise<T>): Promise<{ done: T } | { refused: string }> {
  try {
    return { done: await asked }
  } catch (error) {
    const fault = classifyError(error)
    if (fault.kind !== 'rejected' || fault.status === 401) throw error
    return { refused: `${fault.status}: ${fault.message}` }
  }
}
