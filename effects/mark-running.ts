import { updateCheckRun } from '../github/index.ts'
import type { EditPlace } from './apply-edit.ts'
import { effectKinds } from './effect-kinds.ts'
import type { EffectPorts } from './effect-ports.ts'
import { writeUnrecorded } from './in-turn.ts'

/**
 * Shows a check run of ours as in progress. Like an edit of a comment it can be repeated, and its end is an effect of its own,
 * so it is not recorded; it still asks for ownership first.
 */
export async function markRunning(
  place: EditPlace,
  checkRunId: number,
  summary: string,
  ports: EffectPorts,
): Promise<'written' | 'fenced' | 'stopped'> {
  const token = await ports.mint({ ...place, permissions: effectKinds['check-run'].permissions })
  const running = { status: 'in_progress', conclusion: null, title: 'running', summary } as const
  return await writeUnrecorded(place.installationId, ports, () => updateCheckRun(ports.api(token), place, checkRunId, running))
}
