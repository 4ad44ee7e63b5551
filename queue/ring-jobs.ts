import { createHash, randomUUID } from 'node:crypto'
import { createRedisBackend, Queue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { QueueLimits } from './limits.ts'

/** One call of `ring`. Told to Redis twice it is one job; the next call for the same task has another number and is another job. */
export type Ring = { taskId: string; priority: number; number: string }

/** The rings that nobody has taken yet, as jobs of one BullMQ queue. A job is no work, only the id of a task. */
export type RingJobs = {
  add(ring: Ring): Promise<void>
  /** How many wait. */
  count(): Promise<number>
  /** Takes what waits, most urgent first. No other process is given the same one. */
  take(onRing: (taskId: string) => void): Promise<void>
}

export type RingJobsOptions = { client: Redis; prefix: string; limits: QueueLimits; onError(error: Error): void }

/** Nothing of it is open but the client, which stays the caller's: there is nothing to close. */
export function openRingJobs({ client, prefix, limits, onError }: RingJobsOptions): RingJobs {
  const common = { connection: client, prefix, skipVersionCheck: true }
  const queue = new Queue<Payload>(queueName, { ...common, streams: { events: { maxLen: limits.queueEventsMax } } })
  queue.on('error', onError)
  let worker: Worker<Payload> | null = null
  // A worker that is asked, and runs nothing by itself: no read that blocks and may hang after a reconnect, no lock to renew, no
  // clock of its own. Whoever takes a ring is done with it at once, so how BullMQ sees to long jobs never matters.
  function openWorker(): Worker<Payload> {
    const own = { autorun: false, lockDuration: limits.ringLockMs, stalledInterval: limits.ringLockMs }
    const opened = new Worker<Payload>(queueName, null, { ...common, ...own }, (name, options) => createRedisBackend(name, options))
    return opened.on('error', onError)
  }
  return {
    async add({ taskId, priority, number }) {
      await queue.add('ring', { taskId }, { jobId: jobId(taskId, number), priority: jobPriority(priority), ...keepNothing })
    },
    count: () => queue.count(),
    async take(onRing) {
      worker ??= openWorker()
      await takeRings(worker, limits, onRing)
    },
  }
}

async function takeRings(worker: Worker<Payload>, limits: QueueLimits, onRing: (taskId: string) => void): Promise<void> {
  // What a process left that died while it took it waits again.
  await worker.getBackend().moveStalledJobsToWait()
  if (!(await takeRing(worker, onRing))) return
  // Side by side, so that a Redis far away is no slower than the rings come in.
  const row = async () => {
    for (let taken = 0; taken < limits.ringsInRowMax; taken += 1) if (!(await takeRing(worker, onRing))) return
  }
  await Promise.all(Array.from({ length: limits.ringRowsMax }, row))
}

async function takeRing(worker: Worker<Payload>, onRing: (taskId: string) => void): Promise<boolean> {
  const token = randomUUID()
  const job = await worker.getNextJob(token, { block: false })
  if (!job) return false
  // Whoever may write to Redis may have put it there.
  if (typeof job.data?.taskId === 'string') onRing(job.data.taskId)
  await job.moveToCompleted(null, token, false)
  return true
}

type Payload = { taskId: string }

const queueName = 'rings'
const keepNothing = { removeOnComplete: true, removeOnFail: true }

/** BullMQ uses `:` between the parts of its keys. */
function jobId(taskId: string, number: string): string {
  return createHash('sha256').update(`${number}\n${taskId}`).digest('hex')
}

/** Without one a job would be taken before all that have one; BullMQ's own range begins at 1. */
function jobPriority(priority: number): number {
  const priorityMax = 2 ** 21 - 1
  return Math.min(priorityMax, Math.max(1, Math.trunc(priority) + 1))
}
