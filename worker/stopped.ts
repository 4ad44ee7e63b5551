import { handOver } from '../agent/index.ts'
import type { Task } from './task.ts'
import { OwnershipLost } from './task-log.ts'

/** Why an attempt stops before its road is walked to the end. `handed-back`: the worker goes, another goes on. */
export type StopKind = 'cancelled' | 'deadline' | 'handed-back' | 'switched-off'

/** Thrown between the lines of the spine, so that none has to pass "stop" on; caught once, there. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  readonly kind: StopKind
  constructor(kind: StopKind) {
    super(`the attempt was stopped: ${kind}`)
    this.kind = kind
  }
}

export const deadlineReached = 'deadline'
/** The operator pulled the kill switch while the attempt was under way. */
export const switchedOff = 'switched-off'

/** Called before a result is recorded that a stop may have spoiled. Throws `Stopped` or `OwnershipLost`. */
export function goOn(task: Pick<Task, 'id' | 'stop'>): void {
  if (task.stop.aborted) throw stopOf(task)
}

/** Why a stopped attempt was stopped, as what is thrown for it. */
export function stopOf({ stop: { reason } }: Pick<Task, 'stop'>): Stopped | OwnershipLost {
  if (reason instanceof OwnershipLost) return reason
  if (reason === handOver) return new Stopped('handed-back')
  return new Stopped(reason === deadlineReached || reason === switchedOff ? reason : 'cancelled')
}
