import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { handOver } from '../../agent/index.ts'
import { patchPath, type TaskProgress } from '../../worker/index.ts'
import { deadlineReached, switchedOff } from '../../worker/stopped.ts'
import { lockLedger } from '../worker/lock-ledger.ts'
import { openFixer } from './open-fixer.ts'

const timeout = 60_000
const cancelGraceMs = 1_000
const files = { 'value.txt': 'broken\n', 'check.sh': 'grep -q fixed value.txt\n' }
const run = (command: string) => ({ name: 'run_terminal_command', arguments: { command, description: 'x', timeout: 50_000 } })
const script = [
  { toolCalls: [{ name: 'write', arguments: { file_path: 'value.txt', content: 'fixed\n' } }] },
  { toolCalls: [run('cat value.txt')] },
  { toolCalls: [run('echo sitting; sleep 1')] },
]

/** A fixer whose sessions run in threads; at the first progress that fits, `act` happens beside it. */
async function openWatched() {
  let taskId = ''
  let awaited: { fits(update: TaskProgress): boolean; act(): void } | null = null
  const progress = (id: string, update: TaskProgress) => {
    taskId = id
    if (!awaited?.fits(update)) return
    const { act } = awaited
    awaited = null
    act()
  }
  const fixer = await openFixer({ limits: { cancelGraceMs } }, { sessionPlace: 'thread', progress })
  onTestFinished(fixer.close)
  /** The session gets into SQLite for a lock it does not get, and so hears no stop. */
  const stopHanging = (reason: unknown) => {
    const stop = new AbortController()
    const act = async () => {
      await lockLedger(fixer.dataDir, 4 * cancelGraceMs)
      await sleep(cancelGraceMs)
      stop.abort(reason)
    }
    awaited = { fits: isSitting, act: () => void act() }
    return stop.signal
  }
  const stopOpening = (reason: unknown) => {
    const stop = new AbortController()
    awaited = { fits: update => update.kind === 'stage' && update.stage === 'session', act: () => stop.abort(reason) }
    return stop.signal
  }
  const patch = () => readFileSync(patchPath(path.join(fixer.dataDir, 'tasks', taskId)), 'utf8')
  return { fixer, stopHanging, stopOpening, patch, taskId: () => taskId }
}

const isSitting = (update: TaskProgress) =>
  update.kind === 'session' && update.update.kind === 'tool-started' && update.update.label.includes('sitting')
test.each([
  [deadlineReached, 'timed-out', 'the time was up'],
  [switchedOff, 'cancelled', 'the operator switched runs off'],
  [new Error('a signal'), 'cancelled', 'cancelled by a signal'],
])('a session whose thread had to be ended, stopped by %s, has its work kept', { timeout }, async (why, outcome, reason) => {
  const { fixer, stopHanging, patch } = await openWatched()
  const state = await fixer.fix(files, script, stopHanging(why))
  expect(state.session?.ended ?? null).toBe(null)
  expect([state.outcome?.outcome, state.outcome?.reason, state.change?.files.map(file => file.path)]).toEqual([
    outcome,
    reason,
    ['value.txt'],
  ])
  expect(patch()).toContain('+fixed\n')
})

test('one that is handed over leaves the task as it is, and one that had to be ended before its files were back keeps them too', {
  timeout,
}, async () => {
  const { fixer, stopHanging, stopOpening, patch, taskId } = await openWatched()
  await expect(fixer.fix(files, script, stopHanging(handOver))).rejects.toMatchObject({ name: 'Stopped', kind: 'handed-back' })
  // No session brings its files back in this time.
  writeFileSync(path.join(fixer.dataDir, 'operator.yml'), JSON.stringify({ version: 1, limits: { cancelGraceMs: 1 } }))
  const state = await fixer.goOn(taskId(), stopOpening(deadlineReached))
  expect([state.attempts.length, state.session?.ended ?? null, state.outcome?.outcome]).toEqual([2, null, 'timed-out'])
  expect(patch()).toContain('+fixed\n')
})
