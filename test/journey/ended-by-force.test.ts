import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { handOver } from '../../agent/index.ts'
import { patchPath, type TaskProgress } from '../../worker/index.ts'
import { deadlineReached, switchedOff } from '../../worker/stopped.ts'
import { lockLedger } from '../worker/lock-ledger.ts'
import { type Fixer, openFixer } from './open-fixer.ts'

const timeout = 60_000
const cancelGraceMs = 1_000
const files = { 'value.txt': 'broken\n', 'check.sh': 'grep -q fixed value.txt\n' }
const run = (command: string) => ({ name: 'run_terminal_command', arguments: { command, description: 'x', timeout: 50_000 } })
const script = [
  { toolCalls: [{ name: 'write', arguments: { file_path: 'value.txt', content: 'fixed\n' } }] },
  { toolCalls: [run('cat value.txt')] },
  { toolCalls: [run('echo sitting; sleep 1')] },
]

/** A fixer whose session, when `hangs` says so, gets into SQLite for a lock it does not get, and so hears no stop. */
async function openStuck(hangs: (update: TaskProgress) => boolean): Promise<Fixer & { taskId(): string; stopWith(why: unknown): void }> {
  let [taskId, reason, stop] = ['', null as unknown, new AbortController()]
  const hang = async () => {
    await lockLedger(fixer.dataDir, 4 * cancelGraceMs)
    await sleep(cancelGraceMs)
    stop.abort(reason)
  }
  const progress = (id: string, update: TaskProgress) => {
    taskId = id
    if (hangs(update)) void hang()
  }
  const fixer = await openFixer({ limits: { cancelGraceMs } }, { sessionPlace: 'thread', progress })
  onTestFinished(fixer.close)
  return {
    ...fixer,
    taskId: () => taskId,
    stopWith(why) {
      reason = why
      stop = new AbortController()
    },
    fix: (given, said) => fixer.fix(given, said, stop.signal),
    goOn: id => fixer.goOn(id, stop.signal),
  }
}

const isSitting = (update: TaskProgress) =>
  update.kind === 'session' && update.update.kind === 'tool-started' && update.update.label.includes('sitting')
const patchOf = ({ dataDir, taskId }: { dataDir: string; taskId(): string }) =>
  readFileSync(patchPath(path.join(dataDir, 'tasks', taskId())), 'utf8')

test.each([
  [deadlineReached, 'timed-out', 'the time was up'],
  [switchedOff, 'cancelled', 'the operator switched runs off'],
  [new Error('a signal'), 'cancelled', 'cancelled by a signal'],
])('a session whose thread had to be ended, stopped by %s, has its work kept', { timeout }, async (why, outcome, reason) => {
  const fixer = await openStuck(isSitting)
  fixer.stopWith(why)
  const state = await fixer.fix(files, script)
  expect(state.session?.ended ?? null).toBe(null)
  expect([state.outcome?.outcome, state.outcome?.reason, state.change?.files.map(file => file.path)]).toEqual([
    outcome,
    reason,
    ['value.txt'],
  ])
  expect(patchOf(fixer)).toContain('+fixed\n')
})

test('one that is handed over leaves the task as it is, and one that had to be ended before its files were back keeps them too', {
  timeout,
}, async () => {
  let attempts = 0
  const isOpening = (update: TaskProgress) => update.kind === 'stage' && update.stage === 'session' && attempts > 0
  const fixer = await openStuck(update => isSitting(update) || isOpening(update))
  fixer.stopWith(handOver)
  await expect(fixer.fix(files, script)).rejects.toMatchObject({ name: 'Stopped', kind: 'handed-back' })
  attempts += 1
  fixer.stopWith(deadlineReached)
  const state = await fixer.goOn(fixer.taskId())
  expect([state.attempts.length, state.session?.ended ?? null, state.outcome?.outcome]).toEqual([2, null, 'timed-out'])
  expect(patchOf(fixer)).toContain('+fixed\n')
})
