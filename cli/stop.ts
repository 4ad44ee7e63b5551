import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { requestCancel } from '../app/index.ts'
import type { Environment } from '../config-schema/index.ts'
import { took } from '../domain/index.ts'
import type { TaskRow } from '../ledger/index.ts'
import { escapeText, toSafeJson } from './escape.ts'
import { exitCodes, UsageError } from './exit.ts'
import { readOperator } from './read-operator.ts'
import { keepStopped } from './run/keep-stopped.ts'
import { endOrphan } from './tasks/end-orphan.ts'
import { findTask, type OpenedLedger, withLedger } from './tasks/open-ledger.ts'

type Options = { data?: string; json?: boolean; all?: boolean; wait: string }

export function define(command: Command, environment: Environment): void {
  command
    .argument('[task]')
    .option('--all', 'every task that waits or runs')
    .option('--wait <seconds>', 'how long to wait for the end', '15')
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one array')
  command.action((taskId: string | undefined, options: Options) => stop(taskId, options, environment))
}

type Stopped = {
  taskId: string
  state: 'ended' | 'asked' | 'over'
  outcome: string | null
  afterMs: number
  /** Where the work of a run whose process was dead was put from here; null = there was none to put. */
  patch: string | null
}

const tasksMax = 1_000
const lookMs = 25
/** The longest wait a timer of Node can hold. */
const timerMsMax = 2_147_483_647

/**
 * Records the wish; whoever works on the task sees it within one look (`livenessMs`), keeps the work so far and ends it.
 * A task nobody works on is ended from here, and a run's work is kept as a patch. Works from any process of this machine,
 * and does not touch the other one.
 */
async function stop(taskId: string | undefined, options: Options, environment: Environment): Promise<void> {
  if ((taskId === undefined) === (options.all !== true))
    throw new UsageError('options-clash', 'name a task, or say --all', ['see what runs: grokbot runs list --state running'])
  const waitMs = Number(options.wait) * 1000
  if (!(waitMs >= 0)) throw new UsageError('option-value', '--wait is a number of seconds')
  await withLedger(environment, { data: options.data, durability: 'durable' }, async opened => {
    const rows = taskId === undefined ? await openTasks(opened) : [await findTask(opened, taskId)]
    const stopped = await stopAll(rows, waitMs, opened, environment)
    if (options.json) process.stdout.write(`${toSafeJson(stopped)}\n`)
    else process.stdout.write(stopped.length === 0 ? 'nothing waits or runs\n' : stopped.map(each => `${textOf(each)}\n`).join(''))
    if (stopped.some(each => each.state === 'asked')) process.exitCode = exitCodes.failed
  })
}

async function openTasks({ ledger }: OpenedLedger): Promise<TaskRow[]> {
  const [running, waiting] = await Promise.all([
    ledger.tasks({ state: 'running', limit: tasksMax }),
    ledger.tasks({ state: 'waiting', limit: tasksMax }),
  ])
  return [...running, ...waiting].filter(row => row.needsWorker)
}

/**
 * All are asked at once, so that those who work on them stop side by side. What is done from here, a work tree for each dead
 * run, goes one after another under one user's limits. One wait bounds all of it.
 */
async function stopAll(rows: readonly TaskRow[], waitMs: number, opened: OpenedLedger, environment: Environment): Promise<Stopped[]> {
  const timeUp = waitMs === 0 ? AbortSignal.abort() : AbortSignal.timeout(Math.min(Math.ceil(waitMs), timerMsMax))
  const asked: Asked[] = []
  for (const row of rows) {
    const wasOpen = await requestCancel(opened.ledger, row.taskId, { by: 'the operator', reason: 'asked to stop' }, Date.now())
    asked.push({ row, wasOpen, startedAt: performance.now(), patch: null })
  }
  for (const each of asked.filter(({ wasOpen }) => wasOpen)) {
    const settings = readOperator(environment, opened.dataDir)
    const kept = await keepStopped(each.row.taskId, { ...opened, settings, environment }, timeUp)
    if (kept.kind === 'kept') each.patch = kept.patch
    // Ended from here now, its work would be in no patch for good.
    if (kept.kind !== 'late') await endOrphan(opened.ledger, opened.dataDir, each.row.taskId, settings.limits)
  }
  const stopped: Stopped[] = []
  for (const each of asked) stopped.push(await waitForEnd(each, timeUp, opened))
  return stopped
}

type Asked = { row: TaskRow; wasOpen: boolean; startedAt: number; patch: string | null }

async function waitForEnd({ row, wasOpen, startedAt, patch }: Asked, timeUp: AbortSignal, { ledger }: OpenedLedger): Promise<Stopped> {
  const { taskId } = row
  const since = () => Math.round(performance.now() - startedAt)
  if (!wasOpen) return { taskId, state: 'over', outcome: row.outcome, afterMs: since(), patch }
  for (;;) {
    const now = await ledger.task(taskId)
    if (now?.state === 'ended') return { taskId, state: 'ended', outcome: now.outcome, afterMs: since(), patch }
    if (timeUp.aborted) return { taskId, state: 'asked', outcome: null, afterMs: since(), patch }
    await sleep(lookMs)
  }
}

function textOf({ taskId, state, outcome, afterMs, patch }: Stopped): string {
  const shown = escapeText(taskId)
  if (state === 'over') return `${shown} was over already: ${outcome}`
  if (state === 'ended')
    return `${shown} ended after ${took(afterMs)}: ${outcome}${patch === null ? '' : `; the work so far: ${escapeText(patch)}`}`
  return `${shown} was asked to stop and has not ended after ${took(afterMs)}; look again: grokbot runs show ${shown}`
}
