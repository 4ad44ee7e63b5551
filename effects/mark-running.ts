import { updateCheckRun } from '../github/index.ts'
import type { EditPlace } from './apply-edit.ts'
import { effectKinds } from './effect-kinds.ts'
import type { EffectPorts } from './effect-ports.ts'

/**
 * Shows a check run of ours as in progress. Like an edit of a comment it can be repeated, and its end is an effect of its own,
 * so it is not recorded; it still asks for ownership first.
 */
export async function markRunning(place: EditPlace, checkRunId: number, summary: string, ports: EffectPorts): Promise<'marked' | 'fenced'> {
  const token = await ports.mint({ ...place, permissions: effectKinds['check-run'].permissions })
  if (!(await ports.holds())) return 'fenced'
  await updateCheckRun(ports.api(token), place, checkRunId, { status: 'in_progress', conclusion: null, title: 'running', summary })
  return 'marked'
}
