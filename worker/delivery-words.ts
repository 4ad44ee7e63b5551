import type { EffectState, Outcome, TaskState } from '../domain/index.ts'

/** What of the result is on GitHub, from the effects and not from the outcome; null: nothing was ever sent. */
export function deliveryWords({ effects }: TaskState): string | null {
  const of = (kind: EffectState['kind']) => Object.values(effects).find(effect => effect.kind === kind)
  const pull = of('pull-request')
  if (pull?.state === 'confirmed') return `delivered as #${Number(pull.remote?.['number'])}`
  if (maybeThere(pull)) return 'it is not known whether the pull request was opened'
  const push = of('push')
  if (push?.state === 'confirmed') return `the branch \`${branchOf(push)}\` was pushed; there is no pull request`
  return maybeThere(push) ? 'it is not known whether the branch was pushed' : null
}

/** Ends that may come in the middle of a delivery. */
export function cutShort({ outcome }: { outcome: Outcome }): boolean {
  return outcome === 'cancelled' || outcome === 'timed-out'
}

function maybeThere(effect: EffectState | undefined): boolean {
  return effect?.state === 'dispatched' || effect?.state === 'unknown'
}

function branchOf({ remote }: EffectState): string {
  return String(remote?.['branch']).replace(/[`\r\n]/g, ' ')
}
