/**
 * Named places at which a test kills the process, with no chance to tidy up. One that is not armed costs a comparison.
 * `event.<type>.before` and `.after` stand around the append of every event type; the rest are listed here.
 */
export const crashpointNames = [
  'receiver.beforeStore',
  'receiver.afterStore',
  'intake.beforeAccept',
  'intake.afterAccept',
  'claim.after',
  'mirror.fetched',
  'workspace.opened',
  'setup.done',
  'sandbox.started',
  'model.midStream',
  'tool.running',
  'tree.made',
  'patch.beforeWrite',
  'check.ran',
  'commit.made',
  'effect.reaction.beforeSend',
  'effect.reaction.afterSend',
  'effect.progress.beforeSend',
  'effect.progress.afterSend',
  'effect.comment.beforeSend',
  'effect.comment.afterSend',
  'effect.reply.beforeSend',
  'effect.reply.afterSend',
  'effect.check-run.beforeSend',
  'effect.check-run.afterSend',
  'effect.push.beforeSend',
  'effect.push.afterSend',
  'effect.pull-request.beforeSend',
  'effect.pull-request.afterSend',
  'effect.review.beforeSend',
  'effect.review.afterSend',
  'bundle.beforeWrite',
  'bundle.afterWrite',
  'cleanup.halfDone',
] as const

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
