import type { EffectState, TaskState } from './task-state.ts'

/** What of the result is on GitHub, from the effects and not from the outcome; null: nothing was ever sent. */
export function deliveryWords({ accepted, effects }: Pick<TaskState, 'accepted' | 'effects'>): string | null {
  const last = (kind: EffectState['kind']) => Object.values(effects).findLast(effect => effect.kind === kind)
  const pull = last('pull-request')
  if (pull?.state === 'confirmed') return `delivered as #${Number(pull.remote?.['number'])}`
  if (maybeThere(pull)) return 'it is not known whether the pull request was opened'
  const review = last('review')
  if (review?.state === 'confirmed') return suggestionWords(Number(review.remote?.['comments']))
  if (maybeThere(review)) return 'it is not known whether the suggestions were made'
  const push = last('push')
  // On a pull request's own branch the push is all there is to do.
  if (accepted?.pull) return push ? commitWords(push) : null
  if (push?.state === 'confirmed') return `the branch \`${branchOf(push)}\` was pushed; there is no pull request`
  return maybeThere(push) ? 'it is not known whether the branch was pushed' : null
}

function suggestionWords(count: number): string {
  return `the change was suggested in ${count} ${count === 1 ? 'place' : 'places'}`
}

function commitWords(push: EffectState): string | null {
  if (push.state === 'confirmed') return `\`${String(push.remote?.['sha']).slice(0, 7)}\` was pushed to \`${branchOf(push)}\``
  return maybeThere(push) ? 'it is not known whether the commit was pushed' : null
}

function maybeThere(effect: EffectState | undefined): boolean {
  return effect?.state === 'dispatched' || effect?.state === 'unknown'
}

function branchOf({ remote }: EffectState): string {
  return String(remote?.['branch']).replace(/[`\r\n]/g, ' ')
}
