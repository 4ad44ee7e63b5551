import { applyEffect, type EffectProposal, effectId, type Settled } from '../effects/index.ts'
import { type EffectTask, effectPortsOf, placeOf } from './effect-ports.ts'
import type { Commit } from './make-commit.ts'
import { renderPullRequest, renderTitle } from './render-pull-request.ts'
import { goOn, Stopped, stopOf } from './stopped.ts'
import type { Base, Task } from './task.ts'
import { OwnershipLost } from './task-log.ts'
import { withPatience } from './with-patience.ts'

export type Delivered =
  | { kind: 'pull-request'; number: number; url: string; draft: boolean; branch: string; sha: string }
  | { kind: 'patch'; reason: string }
  | { kind: 'unknown'; reason: string }

/** The delivery ladder's first rung: a new branch, then a pull request from it. A refused rung leaves the patch, and says why. */
export async function deliver(task: Task, base: Base, commit: Commit): Promise<Delivered> {
  const { accepted } = task
  if (accepted.delivery === 'patch' || accepted.installationId === null) return { kind: 'patch', reason: '' }
  const place = placeOf(task)
  const push = await apply(task, base, {
    kind: 'push',
    ordinal: 1,
    intent: { ...place, url: accepted.repository.url, branch: commit.branch, sha: commit.sha, expect: null },
  })
  if (push.state !== 'confirmed') return fallen(push)
  const state = task.log.state()
  // What a stranger wrote may have steered the session: a person looks before anybody takes it for finished.
  const draft = state.verdict?.verdict !== 'proven' || state.taint.length > 0
  const title = renderTitle(state.session?.ended?.text ?? '', accepted.subject)
  const body = renderPullRequest(state, task.settings.prefix, task.settings.limits.bodyCharactersMax)
  const pull = await apply(task, base, {
    kind: 'pull-request',
    ordinal: 1,
    intent: { ...place, head: commit.branch, base: accepted.base.ref, title, body, draft },
  })
  if (pull.state !== 'confirmed') return fallen(pull)
  return {
    kind: 'pull-request',
    number: Number(pull.remote['number']),
    url: String(pull.remote['url']),
    draft,
    branch: commit.branch,
    sha: commit.sha,
  }
}

export async function apply(task: EffectTask, base: Base | null, proposal: EffectProposal): Promise<Settled & { kind: 'settled' }> {
  if (!task.accepted.grant.effects.includes(proposal.kind)) throw new Error(`the task's grant has no effect ${proposal.kind}`)
  await mayDeliver(task, proposal)
  const settled = await withPatience(task, `the ${proposal.kind}`, () => {
    const known = task.log.state().effects[effectId(task.id, proposal)] ?? null
    return applyEffect(task.id, proposal, known, effectPortsOf(task, base))
  })
  if (settled.kind === 'fenced') throw new OwnershipLost(`task ${task.id}: ownership was lost before the ${proposal.kind}`)
  if (settled.kind === 'stopped') throw stopOf(task)
  return settled
}

/** Asked right before what people will see as the result: a cancel, the clock or the kill switch still stops it. */
async function mayDeliver(task: EffectTask, { kind }: EffectProposal): Promise<void> {
  if (kind !== 'push' && kind !== 'pull-request') return
  goOn(task)
  if ((await task.log.refresh()).cancel) throw new Stopped('cancelled')
  if ((await task.ports.ledger.switch('runs'))?.value === 'pulled') throw new Stopped('switched-off')
}

function fallen({ state, reason }: { state: string; reason: string }): Delivered {
  return state === 'rejected' ? { kind: 'patch', reason } : { kind: 'unknown', reason }
}
