import { updateComment } from '../github/index.ts'
import { effectKinds } from './effect-kinds.ts'
import type { EffectPorts } from './effect-ports.ts'
import { writeUnrecorded } from './in-turn.ts'
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
): Promise<'written' | 'fenced' | 'stopped'> {
  const token = await ports.mint({ ...place, permissions: effectKinds.progress.permissions })
  const marker = renderMarker(
    ports.markerKey,
    { kind: 'progress', task, key: 'progress-1' },
    `${place.owner}/${place.repo}#${place.number}`,
  )
  return await writeUnrecorded(place.installationId, ports, () => updateComment(ports.api(token), place, commentId, `${marker}\n${body}`))
}
