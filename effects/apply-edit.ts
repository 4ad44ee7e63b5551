import { updateComment } from '../github/index.ts'
import { effectKinds } from './effect-kinds.ts'
import type { EffectPorts } from './effect-ports.ts'
import { heedLimit, inTurn } from './in-turn.ts'
import { renderMarker } from './marker.ts'

export type EditPlace = { owner: string; repo: string; repositoryId: number; installationId: number; number: number }

/**
 * Writes a newer text into a comment we created. An edit changes nothing that was not ours, can be repeated, and the last
 * one is an effect of its own, so the ones before it are not recorded; they still ask for ownership first.
 */
export async function applyEdit(
  place: EditPlace,
  commentId: number,
  task: string,
  body: string,
  ports: EffectPorts,
): Promise<'edited' | 'fenced' | 'stopped'> {
  const token = await ports.mint({ ...place, permissions: effectKinds.progress.permissions })
  const marker = renderMarker(
    ports.markerKey,
    { kind: 'progress', task, key: 'progress-1' },
    `${place.owner}/${place.repo}#${place.number}`,
  )
  return await inTurn(place.installationId, 'other', ports, async () => {
    if (!(await ports.holds())) return 'fenced'
    await updateComment(ports.api(token), place, commentId, `${marker}\n${body}`).catch(error => {
      heedLimit(place.installationId, error, ports)
      throw error
    })
    return 'edited'
  })
}
