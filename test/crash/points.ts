import { eventTypes } from '../../domain/index.ts'
import { crashpointNames } from '../../telemetry/index.ts'
import { type Scene, sceneOf, scenes } from './scenes.ts'

export type CrashCase = { point: string; scene: Scene }

/** Points the roads of today's scenes do not pass, each with the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  'effect.comment.beforeSend': 'refused',
  'effect.comment.afterSend': 'refused',
}
/** Named places that no road passes yet; the effect kind comes with its own slice. */
const notPassedYet = new Set<string>([
  'effect.reply.beforeSend',
  'effect.reply.afterSend',
  'effect.check-run.beforeSend',
  'effect.check-run.afterSend',
  'effect.review.beforeSend',
  'effect.review.afterSend',
])

/** Every named point and every event type, before and after. Made from the tables, so that none can be forgotten. */
export function allCases(): CrashCase[] {
  const named = crashpointNames
    .filter(name => !notPassedYet.has(name))
    .map(point => ({ point, scene: scenes[(elsewhere[point] ?? 'fix') as keyof typeof scenes] as Scene }))
  const events = eventTypes.flatMap(type =>
    ['before', 'after'].map(side => ({ point: `event.${type}.${side}`, scene: scenes[sceneOf[type]] as Scene })),
  )
  return [...named, ...events]
}
