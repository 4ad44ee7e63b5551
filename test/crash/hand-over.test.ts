import { expect, test } from 'vitest'
import { foldTask } from '../../domain/index.ts'
import { startRedis } from '../queue/redis.ts'
import { sampleFiles, scenes } from './scenes.ts'
import { leftAfterAll, openStage, type Server, type Stage, waitForEnd } from './stage.ts'

const timeout = 120_000
const graceMs = 5_000

async function stateOf({ ledger }: Stage) {
  const [task] = await ledger.tasks({ limit: 1 })
  return foldTask(await ledger.readEvents(task?.taskId ?? ''))
}

/** The one comment's texts, oldest first. */
function texts({ simulator }: Stage): string[] {
  const comments = [...(simulator.github.state.repositories.get('octo/parser')?.comments.values() ?? [])]
  return comments.filter(({ author }) => author?.login.endsWith('[bot]')).flatMap(({ versions }) => versions.map(({ body }) => body))
}
const heads = (stage: Stage) => texts(stage).map(text => text.split('\n')[1]?.replace(/\d\d:\d\d|\d+ s|[\d.]+ min/g, '0') ?? '')
const handedBack = '**grok fix** — handed back at 0 UTC, waiting for another worker'

test.each([
  ['while the model is asked', 'model.requested'],
  ['while the checks run', 'change.collected'],
] as const)('SIGTERM %s hands the task back and says so, and the next process ends it', { timeout }, async (_, event) => {
  const stage = await openStage({ script: scenes.fix.script, files: sampleFiles, limits: saidAtOnce })
  try {
    const first = await stage.serve()
    await stage.comment('/grok fix')
    await stage.waitForEvent(event)
    await toldToGo(first)
    const between = await stateOf(stage)
    expect([between.outcome, between.cancel, heads(stage).at(-1)]).toEqual([null, null, handedBack])
    await stage.serve()
    const state = await waitForEnd(stage.ledger, 60_000)
    expect([state?.outcome?.outcome, state?.attempts.length, heads(stage).at(-1)]).toEqual(['succeeded', 2, done])
  } finally {
    await stage.close()
  }
})

test('Q81: of two workers the one that is told to go while a tool runs hands its task to the other, and people can read it', {
  timeout,
}, async () => {
  const redis = await startRedis()
  const stage = await openStage({ script: scenes.fix.script, files: sampleFiles, limits: saidAtOnce, redisUrl: redis.url })
  try {
    await stage.start('app')
    const first = await stage.start('worker')
    await stage.comment('/grok fix')
    const [other] = await Promise.all([stage.start('worker'), stage.waitForEvent('tool.started')])
    await toldToGo(first)
    const state = await waitForEnd(stage.ledger, 60_000)
    const recovers = state?.attempts.map(attempt => attempt.recovers)
    expect([state?.outcome?.outcome, recovers, new Set(state?.attempts.map(({ owner }) => owner)).size]).toEqual([
      'succeeded',
      [null, 1],
      2,
    ])
    expect([heads(stage).filter(head => head === handedBack), heads(stage).at(-1)]).toEqual([[handedBack], done])
    other.process.kill('SIGTERM')
    await other.exited
    expect(await leftAfterAll(stage)).toEqual([])
  } finally {
    await stage.close()
    await redis.stop()
  }
})

const saidAtOnce = { progressAfterMs: 0 }
const done = '**grok fix** — done in 0: #2'

async function toldToGo({ process, exited }: Server): Promise<void> {
  const askedAt = Date.now()
  process.kill('SIGTERM')
  expect(await exited).toEqual({ code: 0, signal: null })
  expect(Date.now() - askedAt).toBeLessThan(graceMs)
}

test('an operator file that breaks while serve runs is logged, and the run goes on with the last good one', { timeout }, async () => {
  const stage = await openStage({ script: scenes.fix.script, files: sampleFiles })
  try {
    const server = await stage.serve()
    await stage.comment('/grok fix')
    await stage.waitForEvent('model.requested')
    stage.writeOperator('limits: [broken')
    await server.logged('operator settings are broken')
    const state = await waitForEnd(stage.ledger, 60_000)
    expect(state?.outcome?.outcome).toBe('succeeded')
  } finally {
    await stage.close()
  }
})
