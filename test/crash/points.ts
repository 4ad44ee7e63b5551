import { eventTypes } from '../../domain/index.ts'
import { crashpointNames } from '../../telemetry/index.ts'
import { type Scene, sceneOf, scenes } from './scenes.ts'
import { forms, successions, type Way } from './ways.ts'

export type CrashCase = { point: string; scene: Scene }
export type PlannedKill = CrashCase & { way: Way }

/** Points the roads of today's scenes do not pass, each with the reason. */
const elsewhere: Readonly<Record<string, keyof typeof scenes>> = {
  'setup.done': 'prepared',
  'tree.made': 'prepared',
  'effect.comment.beforeSend': 'refused',
  'effect.comment.afterSend': 'refused',
  'effect.comment.settled': 'refused',
  'effect.reply.beforeSend': 'pull',
  'effect.reply.afterSend': 'pull',
  'effect.reply.settled': 'pull',
  'effect.check-run.beforeSend': 'pull',
  'effect.check-run.afterSend': 'pull',
  'effect.check-run.settled': 'pull',
  'effect.push.committed': 'signed',
  'effect.review.beforeSend': 'fork',
  'effect.review.afterSend': 'fork',
  'effect.review.settled': 'fork',
}
const beforeSession = /^(receiver|intake|queue|claim)\.|^effect\.reaction\./

/** Every named point and every event type, before and after. Made from the tables, so that none can be forgotten. */
export function allCases(): CrashCase[] {
  const named = crashpointNames.map(point => ({
    point,
    scene: scenes[elsewhere[point] ?? (beforeSession.test(point) ? 'asked' : 'fix')] as Scene,
  }))
  const events = eventTypes.flatMap(type =>
    ['before', 'after'].map(side => ({ point: `event.${type}.${side}`, scene: scenes[sceneOf[type]] as Scene })),
  )
  return [...named, ...events]
}

/** The half of the road before a worker has the task: there nobody can stand by who would not pass the point as well. */
const beforeClaim =
  /^(receiver|intake|queue|claim)\.|^effect\.(reaction|comment)\.|^event\.(task\.(accepted|refused)|attempt\.started|cancel\.requested)\./

/** Every way that makes sense for each point. */
export function allKills(cases: readonly CrashCase[], wanted: Partial<Way> = {}): PlannedKill[] {
  const ways = forms.flatMap(form => successions.map(succession => ({ form, succession })))
  const kept = ways.filter(way => Object.entries(wanted).every(([name, value]) => way[name as keyof Way] === value))
  return kept.flatMap(way =>
    cases.filter(({ point }) => way.succession === 'restart' || !beforeClaim.test(point)).map(one => ({ ...one, way })),
  )
}

/** So many of them, far apart, others for another number; neighbours in the table are killed in different ways. */
export function someKills(cases: readonly CrashCase[], count: number, rotation: number): PlannedKill[] {
  return Array.from({ length: count }, (_, index) => {
    const place = (Math.floor((index * cases.length) / count) + rotation) % cases.length
    const one = cases[place] as CrashCase
    const form = forms[place % 2] as Way['form']
    const canStandBy = !beforeClaim.test(one.point) && Math.floor(place / 2) % 2 === 1
    return { ...one, way: { form, succession: canStandBy ? 'takeover' : 'restart' } }
  })
}
