import { applyEffect, type EffectProposal, effectId, type Settled } from '../effects/index.ts'
import { type EffectTask, effectPortsOf } from './effect-ports.ts'
import { goOn, Stopped, stopOf } from './stopped.ts'
import type { Base } from './task.ts'
import { OwnershipLost } from './task-log.ts'
import { withPatience } from './with-patience.ts'

/** One effect of a task, to its settlement. What an earlier attempt recorded of it is gone on with. `base` null: it pushes nothing. */
export async function apply(task: EffectTask, base: Base | null, proposal: EffectProposal): Promise<Settled & { kind: 'settled' }> {
  if (!task.accepted.grant.effects.includes(proposal.kind)) throw new Error(`the task's grant has no effect ${proposal.kind}`)
  if (isResult(proposal)) await mayDeliver(task)
  const settled = await withPatience(task, `the ${proposal.kind}`, () => {
    const known = task.log.state().effects[effectId(task.id, proposal)] ?? null
    return applyEffect(task.id, proposal, known, effectPortsOf(task, base))
  })
  if (settled.kind === 'fenced') throw new OwnershipLost(`task ${task.id}: ownership was lost before the ${proposal.kind}`)
  if (settled.kind === 'stopped') throw stopOf(task)
  return settled
}

function isResult({ kind }: EffectProposal): boolean {
  return kind === 'push' || kind === 'pull-request' || kind === 'review'
}

/** Asked right before what people will see as the result: a cancel, the clock or the kill switch still stops it. */
export async function mayDeliver(task: EffectTask): Promise<void> {
  goOn(task)
  if ((await task.log.refresh()).cancel) throw new Stopped('cancelled')
  if ((await task.ports.ledger.switch('runs'))?.value === 'pulled') throw new Stopped('switched-off')
}
