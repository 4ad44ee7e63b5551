import { checkRunName, conclusionOf, deliveryWords, type EffectState, type TaskState } from '../domain/index.ts'
import type { EffectProposal } from '../effects/index.ts'
import { placeOf } from './effect-ports.ts'
import { workerLimits } from './limits.ts'
import { renderEnded } from './render-ended.ts'
import type { EndView } from './words-of-end.ts'

/** The check run that acceptance prepared for this task; null = it has none. */
function firstOf({ effects }: Pick<TaskState, 'effects'>): EffectState | null {
  return Object.values(effects).find(({ kind, key }) => kind === 'check-run' && key === 'check-run-1') ?? null
}

/** Its id on GitHub; null until it is known to be there. */
export function checkRunId(state: Pick<TaskState, 'effects'>): number | null {
  const first = firstOf(state)
  const id = first?.state === 'confirmed' ? first.remote?.['id'] : null
  return typeof id === 'number' ? id : null
}

/** While it is on its way a list need not show it, and a second one would be made beside it. */
export function isUnderWay(state: Pick<TaskState, 'effects'>): boolean {
  const first = firstOf(state)
  return first?.state === 'prepared' || first?.state === 'dispatched'
}

/** How the check run of a task ends: in the words its thread is told. Null: it has none. */
export function checkRunEnd(view: EndView): EffectProposal | null {
  const { state, end, taskId, bodyCharactersMax } = view
  const { accepted, change, verdict } = state
  if (firstOf(state) === null || !accepted?.pull) return null
  const leftOut = (change?.leftOut.length ?? 0) + (change?.refused.length ?? 0)
  const conclusion = conclusionOf(end.outcome, { nothingToDo: verdict?.verdict === 'no-change' && leftOut === 0 })
  const run = {
    headSha: accepted.pull.headSha,
    name: checkRunName(accepted.command.verb),
    externalId: taskId,
    checkRunId: checkRunId(state),
  }
  const text = { title: titleOf(view), summary: renderEnded(view).slice(0, bodyCharactersMax) }
  return { kind: 'check-run', ordinal: 2, intent: { ...placeOf({ accepted }), ...run, status: 'completed', conclusion, ...text } }
}

/** Plain text, one line: it stands in lists. */
function titleOf({ state, end }: EndView): string {
  const words = (deliveryWords(state) ?? 'nothing was pushed').replaceAll('`', '')
  const reason = end.outcome === 'succeeded' || end.patchOnly !== undefined ? '' : `: ${end.reason}`
  const line = `${end.patchOnly === undefined ? end.outcome : 'delivered as a patch'}, ${words}${reason}`.replace(/\s+/g, ' ')
  return line.length <= workerLimits.checkTitleCharactersMax
    ? line
    : `${line.slice(0, workerLimits.checkTitleCharactersMax - 1).trimEnd()}…`
}
