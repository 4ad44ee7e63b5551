import { eventTypes } from '../../domain/index.ts'
import { crashpointNames } from '../../telemetry/index.ts'
import { type Scene, sceneOf, scenes } from './scenes.ts'

export type CrashCase = { point: string; scene: Scene }

/** Points the roads of today's scenes do not pass, each with the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  'effect.comment.beforeSend': 'refused',
  'effect.comment.afterSend': 'refused',
  'effect.reply.beforeSend': 'pull',
  'effect.reply.afterSend': 'pull',
  'effect.check-run.beforeSend': 'pull',
  'effect.check-run.afterSend': 'pull',
  'effect.review.beforeSend': 'fork',
  'effect.review.afterSend': 'fork',
}
/** Every named point and every event type, before and after. Made from the tables, so that none can be forgotten. */
export function allCases(): CrashCase[] {
  const named = crashpointNames.map(point => ({ point, scene: scenes[(elsewhere[point] ?? 'fix') as keyof typeof scenes] as Scene }))
  const events = eventTypes.flatMap(type =>
    ['before', 'after'].map(side => ({ point: `event.${type}.${side}`, scene: scenes[sceneOf[type]] as Scene })),
  )
  return [...named, ...events]
}
