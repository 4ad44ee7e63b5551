import type { ProblemCode } from '../domain/index.ts'
import { openPullRequest } from './deliver-branch.ts'
import { pushToHead } from './deliver-commit.ts'
import { suggestToFork } from './deliver-suggestions.ts'
import type { Fallen } from './fallen.ts'
import type { Commit } from './make-commit.ts'
import type { TaskPlace } from './open-task-workspace.ts'
import { standingNow } from './standing.ts'
import type { Base, Task } from './task.ts'

export type Delivered =
  | { kind: 'pull-request'; number: number; url: string; draft: boolean; branch: string; sha: string }
  /** Pushed onto the branch of the pull request it was asked for. */
  | { kind: 'commit'; branch: string; sha: string }
  /** A review with the whole change as suggestions. */
  | { kind: 'suggestions'; count: number }
  /** `reason` is '' where nothing else was to be tried; `code` is of the first rung that did not hold. */
  | { kind: 'patch'; reason: string; code?: ProblemCode }
  | { kind: 'unknown'; reason: string }

export type Reached = Delivered | Fallen
type Rung = (task: Task, base: Base, commit: Commit, place: TaskPlace) => Promise<Reached>

/** The rungs above the last one, which is the kept patch and always holds. */
const ladders = {
  issue: [openPullRequest],
  pull: [pushToHead],
  // Fork code never becomes a branch here, and nobody pushes into somebody else's repository.
  fork: [suggestToFork],
} as const satisfies Record<string, readonly Rung[]>

/** The delivery ladder: the first rung that holds. A rung that does not says why, and the patch is kept in any case. */
export async function deliver(task: Task, base: Base, commit: Commit, place: TaskPlace): Promise<Delivered> {
  const { accepted } = task
  if (accepted.delivery === 'patch' || accepted.installationId === null) return { kind: 'patch', reason: '' }
  // What was begun is gone on with as it was: half of it may be there.
  const standing = isBegun(task) ? null : await standingNow(task)
  if (standing) return { kind: 'patch', reason: standing.why, code: standing.code }
  const fallen: Fallen[] = []
  for (const rung of ladders[ladderOf(task)]) {
    const reached = await rung(task, base, commit, place)
    if (reached.kind !== 'fallen') return reached
    fallen.push(reached)
  }
  const [first] = fallen
  return { kind: 'patch', reason: fallen.map(({ why }) => why).join('; '), ...(first ? { code: first.code } : {}) }
}

function isBegun({ log }: Task): boolean {
  return Object.values(log.state().effects).some(({ kind }) => kind === 'push' || kind === 'pull-request' || kind === 'review')
}

function ladderOf({ accepted: { pull } }: Task): keyof typeof ladders {
  if (!pull) return 'issue'
  return pull.fork ? 'fork' : 'pull'
}
