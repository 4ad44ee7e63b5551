import { updateCheckRun } from '../github/index.ts'
import type { EditPlace } from './apply-edit.ts'
import { effectKinds } from './effect-kinds.ts'
import type { EffectPorts } from './effect-ports.ts'
import { heedLimit, inTurn } from './in-turn.ts'

/**
 * Shows a check run of ours as in progress. Like an edit of a comment it can be repeated, and its end is an effect of its own,
 * so it is not recorded; it still asks for ownership first.
 */
export async function markRunning(
  place: EditPlace,
  checkRunId: number,
  summary: string,
  ports: EffectPorts,
): Promise<'marked' | 'fenced' | 'stopped'> {
  const token = await ports.mint({ ...place, permissions: effectKinds['check-run'].permissions })
  return await inTurn(place.installationId, 'other', ports, async () => {
    if (!(await ports.holds())) return 'fenced'
    const running = { status: 'in_progress', conclusion: null, title: 'running', summary } as const
    await updateCheckRun(ports.api(token), place, checkRunId, running).catch(error => {
      heedLimit(place.installationId, error, ports)
      throw error
    })
    return 'marked'
  })
}
