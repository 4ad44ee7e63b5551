export { createInProcessQueue } from './in-process-queue.ts'
export type { Queue } from './queue.ts'
