import { effectId } from '../effects/index.ts'
import type { Reached } from './deliver.ts'
import { fallen } from './fallen.ts'
import type { Commit } from './make-commit.ts'
import { type Moved, obstacleNow, provenBroken } from './obstacle.ts'
import type { TaskPlace } from './open-task-workspace.ts'
import { pushChange } from './push-change.ts'
import { reapply } from './reapply.ts'
import { refusedPush, settledWhy } from './refusal-words.ts'
import type { Base, Task } from './task.ts'

/**
 * A commit on top of the pull request's own branch, which only fast-forwards. A head that moved meanwhile is followed once:
 * the change is made again on it, and checked again there.
 */
export async function pushToHead(task: Task, base: Base, commit: Commit, place: TaskPlace): Promise<Reached> {
  const first = await pushOnce(task, base, commit)
  if (first.kind !== 'moved') return first
  if (task.log.state().change?.onto) return movedAgain
  const again = await reapply(task, base, place, first.head)
  if (again.kind === 'fallen') return again
  const second = await pushOnce(task, again.base, again.commit)
  return second.kind === 'moved' ? movedAgain : second
}

const movedAgain = fallen('moved-again', 'the branch was pushed to again and again while I delivered')

async function pushOnce(task: Task, base: Base, commit: Commit): Promise<Reached | Moved> {
  const state = task.log.state()
  const branch = task.accepted.pull?.headRef ?? ''
  const ordinal = state.change?.onto ? 2 : 1
  const expect = base.start.sha
  // One that was recorded is gone on with as it was: the branch may be at our own commit already.
  const known = state.effects[effectId(task.id, { kind: 'push', ordinal })]
  // A head that moved is looked at first: what fails on the old one may pass on the new one, as behind another task's commit.
  const obstacle = known ? null : ((await obstacleNow(task, expect)) ?? provenBroken(state))
  if (obstacle) return obstacle
  const push = await pushChange(task, base, commit, { ordinal, branch, expect })
  if (push.state === 'confirmed') return { kind: 'commit', branch, sha: String(push.remote['sha']) }
  const { sha: head } = push.remote
  if (push.state === 'rejected' && typeof head === 'string' && head !== '' && head !== expect) return { kind: 'moved', head }
  const gone = fallen('branch-gone', `the branch \`${branch}\` is gone`)
  return settledWhy(push, head === '' ? gone : refusedPush(push))
}
