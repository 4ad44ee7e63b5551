import type { ReadyCall } from './run-batch.ts'
import type { Touch } from './tools/tool.ts'
import { workspacePath } from './tools/workspace-path.ts'

/**
 * Runs calls together where the order can not be seen, in the model's order where it can: two calls that write, a read and
 * a write of one file, and a command beside anything that touches files. Commands run beside each other.
 */
export function orderBatch<Result>(ready: readonly ReadyCall[], runOne: (call: ReadyCall) => Promise<Result>): Promise<Result[]> {
  const running: Promise<Result>[] = []
  for (const [index, entry] of ready.entries()) {
    const before = ready.slice(0, index).flatMap((earlier, at) => (conflict(earlier, entry) ? [running[at] as Promise<Result>] : []))
    running.push(before.length === 0 ? runOne(entry) : Promise.allSettled(before).then(() => runOne(entry)))
  }
  return Promise.all(running)
}

function conflict(left: ReadyCall, right: ReadyCall): boolean {
  if (left.call.tool.kind === 'execute' && right.call.tool.kind === 'execute') return false
  const first = left.call.tool.touch(left.call.input)
  const second = right.call.tool.touch(right.call.input)
  // Two names may be one file (a link, a file system without case): writers never run beside each other.
  if (first.writes !== null && second.writes !== null) return true
  return overlap(first.writes, second.reads) || overlap(first.reads, second.writes)
}

function overlap(left: Touch['reads'], right: Touch['reads']): boolean {
  if (left === null || right === null) return false
  if (left === 'everything' || right === 'everything') return true
  return workspacePath(left) === workspacePath(right)
}
