import type { Payload } from '../domain/index.ts'
import { makeInertForCommit } from '../effects/index.ts'
import { commitTree, resolveBase, wantsSignOff } from '../git/index.ts'
import { crashpoint, withoutSecrets } from '../telemetry/index.ts'
import type { Change } from './collect-change.ts'
import { branchFolder, workerLimits } from './limits.ts'
import { renderTitle, skipChecks } from './render-pull-request.ts'
import type { Base, Task } from './task.ts'
import { withPatience } from './with-patience.ts'

export type Commit = Payload<'commit.made'>
type Author = { name: string; email: string }

/** The change as one commit on the task's start, with the same sha on every attempt: all that goes into it is recorded. */
export async function makeCommit(task: Task, base: Base, change: Change): Promise<Commit> {
  const known = task.log.state().commit
  const name = await authorName(task)
  const author = { name, email: `${name}@users.noreply.github.com` }
  const message = known?.message ?? (await renderMessage(task, base, author))
  const sha = await commitTree({ store: base.store, tree: change.tree, parents: [base.start.sha], message, author, at: acceptedAt(task) })
  crashpoint('commit.made')
  if (known) return known
  const commit = {
    sha,
    tree: change.tree,
    parent: base.start.sha,
    branch: await branchOf(task, base),
    message,
  }
  await task.log.record({ type: 'commit.made', commandId: `${task.id}:commit`, payload: commit })
  return commit
}

function acceptedAt(task: Task): number {
  return task.log.state().accepted?.at ?? 0
}

async function authorName(task: Task): Promise<string> {
  const { github } = task.ports
  return github ? (await withPatience(task, 'reading the App', () => github.identity())).botLogin : 'grokbot'
}

/** The pull request's own, or a new one. Recorded with the commit, so that a task keeps it: that is how a lost push is found again. */
async function branchOf({ id, accepted }: Task, { mirror }: Base): Promise<string> {
  const { command, subject, pull } = accepted
  if (pull && !pull.fork) return pull.headRef
  const suffix = id.slice(-6).toLowerCase()
  const name = subject ? `${command.verb}-${subject.number}-${suffix}` : `${command.verb}-${suffix}`
  // A branch called like the folder of ours keeps git from making any in it.
  const isTaken = (await resolveBase(mirror, `refs/heads/${branchFolder}`)).kind === 'found'
  return `${branchFolder}${isTaken ? '-' : '/'}${name}`
}

async function renderMessage(task: Task, { config, mirror, sha }: Base, author: Author): Promise<string> {
  const { session, taint } = task.log.state()
  const title = renderTitle(session?.ended?.text ?? '', task.accepted.subject)
  // Cut first: a cut through what the filter put in would undo it.
  const body = makeInertForCommit(
    withoutSecrets(session?.ended?.text ?? '')
      .trim()
      .slice(0, workerLimits.messageCharactersMax),
  )
  const waits = (config.ci.value ?? (taint.length > 0 ? 'after-approval' : 'always')) === 'after-approval'
  // Its own, as the check of a sign-off compares it with the author: nobody else can give it.
  const signOff = (await wantsSignOff(mirror, sha)) ? `Signed-off-by: ${author.name} <${author.email}>\n` : ''
  return `${title}\n\n${body}\n\nGrokbot-Task: ${task.id}\n${signOff}${waits ? skipChecks : ''}`
}
