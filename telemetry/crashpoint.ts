/**
 * Named places at which a test kills the process, with no chance to tidy up. One that is not armed costs a comparison.
 * `event.<type>.before` and `.after` stand around the append of every event type; the rest are listed here.
 */
export const crashpointNames = [
  'receiver.beforeVerify',
  'receiver.beforeStore',
  'receiver.afterStore',
  'receiver.answered',
  'intake.begun',
  'intake.factsRead',
  'intake.beforeAccept',
  'intake.afterAccept',
  'queue.beforeRing',
  'queue.afterRing',
  'claim.after',
  'mirror.fetched',
  'workspace.opened',
  'setup.done',
  'sandbox.started',
  'model.midStream',
  'tool.running',
  'tree.made',
  'patch.beforeWrite',
  'check.running',
  'check.ran',
  'commit.made',
  'effect.reaction.beforeSend',
  'effect.reaction.afterSend',
  'effect.reaction.settled',
  'effect.progress.beforeSend',
  'effect.progress.afterSend',
  'effect.progress.settled',
  'effect.comment.beforeSend',
  'effect.comment.afterSend',
  'effect.comment.settled',
  'effect.reply.beforeSend',
  'effect.reply.afterSend',
  'effect.reply.settled',
  'effect.check-run.beforeSend',
  'effect.check-run.afterSend',
  'effect.check-run.settled',
  'effect.push.beforeSend',
  'effect.push.committed',
  'effect.push.afterSend',
  'effect.push.settled',
  'effect.pull-request.beforeSend',
  'effect.pull-request.afterSend',
  'effect.pull-request.settled',
  'effect.review.beforeSend',
  'effect.review.afterSend',
  'effect.review.settled',
  'bundle.beforeWrite',
  'bundle.afterWrite',
  'cleanup.halfDone',
] as const

/**
 * The places of the road from a delivery to its bundle, in order, with the points that stand there: what a reader looks for
 * by place and not by name. A name with `event.` stands around the append of that event.
 */
export const crashpointPlaces: readonly (readonly [place: string, points: readonly string[]])[] = [
  ['delivery: before and after its signature is checked', ['receiver.beforeVerify', 'receiver.beforeStore']],
  ['delivery: before and after it is durable', ['receiver.beforeStore', 'receiver.afterStore']],
  ['delivery: after the 2xx, before it is read', ['receiver.answered', 'intake.begun']],
  ['facts: after they were read, before the decision is recorded', ['intake.factsRead', 'intake.beforeAccept']],
  ['acceptance: before and after its transaction', ['event.task.accepted.before', 'event.task.accepted.after', 'intake.afterAccept']],
  ['bell: before and after Redis has it', ['queue.beforeRing', 'queue.afterRing']],
  ['eyes: recorded, sent, settled', pointsOf('reaction')],
  ['progress comment: recorded, sent, settled', pointsOf('progress')],
  ['check run: recorded, sent, settled', pointsOf('check-run')],
  ['check: while it runs, before its receipt', ['check.running', 'check.ran', 'event.check.settled.before']],
  ['push: recorded, taken by the remote, settled', pointsOf('push')],
  ['pull request: recorded, sent, settled', pointsOf('pull-request')],
  ['review: recorded, sent, settled', pointsOf('review')],
  ['outcome: after the last words, and after itself', ['event.task.ended.before', 'event.task.ended.after']],
  ['tidying: half done', ['cleanup.halfDone']],
  ['bundle: before and after it is published', ['bundle.beforeWrite', 'bundle.afterWrite']],
]

function pointsOf(kind: string): string[] {
  return ['beforeSend', 'afterSend', 'settled'].map(place => `effect.${kind}.${place}`)
}

export type CrashpointName = (typeof crashpointNames)[number] | `event.${string}.before` | `event.${string}.after`

/** `NAME` or `NAME#N`: the N-th time that place is passed in this process. */
let armed: { name: string; passesLeft: number } | null = null

export function armCrashpoint(text: string | undefined): void {
  if (!text) return
  const [name = '', nth = '1'] = text.split('#')
  armed = { name, passesLeft: Number(nth) }
}

export function crashpoint(name: CrashpointName): void {
  if (armed === null || armed.name !== name) return
  armed.passesLeft -= 1
  if (armed.passesLeft === 0) process.kill(process.pid, 'SIGKILL')
}
