import { hasPassed, type TaskState } from '../domain/index.ts'
import { type PullStanding, readPullStanding } from '../github/index.ts'
import { placeOf } from './effect-ports.ts'
import { type Fallen, fallen } from './fallen.ts'
import type { Task } from './task.ts'
import { withPatience } from './with-patience.ts'

export type Moved = { kind: 'moved'; head: string }

/** What a check shows to be broken is not put on somebody's branch; what no check speaks of is, and said to be so. */
export function provenBroken({ checks }: TaskState): Fallen | null {
  const failing = checks.newCodeNewTests.find(check => !hasPassed(check))
  if (!failing) return null
  return fallen('checks-broken', `\`${failing.name}\` fails with it, and I push nothing broken onto somebody's branch`)
}

/** What keeps a pull request from being written to now: minutes have passed since it was accepted. Null: nothing does. */
export async function obstacleNow(task: Task, expect: string): Promise<Fallen | Moved | null> {
  return obstacleIn(await readStanding(task), task.accepted.pull?.fork ?? false, expect)
}

async function readStanding(task: Task): Promise<PullStanding> {
  const { owner, repo, repositoryId, installationId } = placeOf(task)
  const { github } = task.ports
  if (github === null) throw new Error('a pull request needs a GitHub App')
  const number = task.accepted.subject?.number ?? 0
  return await withPatience(task, 'reading the pull request', async () => {
    const permissions = { metadata: 'read', contents: 'read', pull_requests: 'read' } as const
    const { token } = await github.mint({ installationId, repositoryId, permissions, for: { taskId: task.id, attempt: task.attempt } })
    return await readPullStanding(github.api(token), { owner, repo }, number)
  })
}

export function obstacleIn(standing: PullStanding, wasFork: boolean, expect: string): Fallen | Moved | null {
  const { state, locked, fork, inMergeQueue, headSha } = standing
  if (state !== 'open') return fallen('closed-meanwhile', `this pull request was ${state} meanwhile`)
  if (locked) return fallen('locked-meanwhile', 'this conversation was locked meanwhile')
  if (fork && !wasFork) return fallen('fork-meanwhile', 'its head lies in a fork now, where I never push')
  if (inMergeQueue) return fallen('merge-queue', 'this pull request is in the merge queue, and a push would take it out')
  return headSha === expect ? null : { kind: 'moved', head: headSha }
}
