export { createInProcessQueue } from './in-process-queue.ts'
export { type QueueLimits, queueLimits } from './limits.ts'
export type { Queue, QueueHealth } from './queue.ts'
export { openRedisQueue, type RedisQueueOptions } from './redis-queue.ts'
