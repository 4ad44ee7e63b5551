import type { Settled } from '../effects/index.ts'
import { apply } from './apply.ts'
import { placeOf } from './effect-ports.ts'
import type { Commit } from './make-commit.ts'
import type { Base, Task } from './task.ts'

/** Behind the ordinals of the pushes by git: the first, and the one after the change was made again on a head that moved. */
const signedFrom = 2

/**
 * One commit onto one branch, which must be at `expect`: by git, and where signed commits only are taken, made by GitHub's
 * API, which signs it. The task holds no key for that, and needs none.
 */
export async function pushChange(
  task: Task,
  base: Base,
  { sha, tree, parent, message }: Commit,
  { ordinal, branch, expect }: { ordinal: 1 | 2; branch: string; expect: string | null },
): Promise<Settled & { kind: 'settled' }> {
  const intent = { ...placeOf(task), url: task.accepted.repository.url, branch, sha, expect }
  const push = await apply(task, base, { kind: 'push', ordinal, intent })
  if (push.state !== 'rejected' || push.remote['refusal'] !== 'unsigned') return push
  const signed = { tree, parent, message }
  return await apply(task, base, { kind: 'push', ordinal: signedFrom + ordinal, intent: { ...intent, signed } })
}
