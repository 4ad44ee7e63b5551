import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from '../test/crash/stage.ts'
import { startRedis } from '../test/queue/redis.ts'
import { buildProgram } from '../tools/build/build-program.ts'

/**
 * From a delivery that is sent to the first request its session makes to the model, by the real processes: `serve` with the
 * bell in the process, and an app with one worker and the bell in Redis. The floor is the same with the bell switched off,
 * so that only the worker's own look at the ledger finds the task.
 */
const tasks = Number(process.argv[process.argv.indexOf('--tasks') + 1] || 0) || 12
const taskWallMs = 60_000

const built = await buildProgram(path.resolve(import.meta.dirname, '..'))
process.env['GROKBOT_PROGRAM'] = built.program
try {
  const redis = await startRedis()
  try {
    const rows = [
      ['in one process', await measure({}, stage => stage.serve())],
      ['app and worker, Redis', await measure({ redisUrl: redis.url }, startBoth)],
    ] as const
    await redis.kill()
    print([...rows, ['app and worker, Redis away', await measure({ redisUrl: redis.url }, startBoth)]])
  } finally {
    await redis.stop()
  }
} finally {
  built.remove()
}

async function startBoth(stage: Stage) {
  await stage.start('app')
  await stage.start('worker')
}

async function measure(options: { redisUrl?: string }, start: (stage: Stage) => Promise<unknown>): Promise<number[]> {
  const files = { 'README.md': 'A sample.\n' }
  // Read where the stage is loaded, so the program is built first.
  const { openStage } = await import('../test/crash/stage.ts')
  const stage = await openStage({ script: () => ({ text: 'It says so in README.md.' }), files, ...options })
  try {
    await start(stage)
    const waits: number[] = []
    // The first fetches the repository and warms every part; what is asked for is what the bell is worth.
    for (let task = 0; task <= tasks; task++) {
      const waitMs = await ask(stage, task)
      if (task > 0) waits.push(waitMs)
    }
    return waits.sort((one, other) => one - other)
  } finally {
    await stage.close()
  }
}

async function ask(stage: Stage, task: number): Promise<number> {
  const { requests } = stage.simulator.model
  const [seen, sentAt] = [requests.length, Date.now()]
  await stage.comment(`/grok ask what does it say, for the ${task}. time?`)
  const until = sentAt + taskWallMs
  while (requests.length === seen && Date.now() < until) await sleep(1)
  const first = requests[seen]
  if (!first) throw new Error(`the model was not asked within ${taskWallMs} ms`)
  while ((await stage.ledger.tasks({ limit: 100 })).some(({ state }) => state !== 'ended') && Date.now() < until) await sleep(10)
  return first.at - sentAt
}

function print(rows: readonly (readonly [string, readonly number[]])[]) {
  process.stdout.write(`${'delivery → first model request'.padEnd(32)}${'p50'.padStart(9)}${'p95'.padStart(9)}   of ${tasks} tasks\n`)
  for (const [name, waits] of rows) {
    const at = (share: number) => `${Math.round(waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0)} ms`
    process.stdout.write(`${name.padEnd(32)}${at(0.5).padStart(9)}${at(0.95).padStart(9)}\n`)
  }
}
