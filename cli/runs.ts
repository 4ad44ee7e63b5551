import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { foldTask, type TaskState } from '../domain/index.ts'
import type { TaskRow } from '../ledger/index.ts'
import { escapeShort, escapeText, toSafeJson } from './escape.ts'
import { UsageError } from './exit.ts'
import { leftOutText, reasonText } from './run/report.ts'
import { type RecordedResult, resultOf } from './run/result.ts'
import { findTask, withLedger } from './tasks/open-ledger.ts'
import { isSigned, outFilesOf } from './tasks/out-files-of.ts'
import { clock, money, plural } from './view/units.ts'

type ListOptions = { data?: string; json?: boolean; state?: string; limit: string }
type ShowOptions = { data?: string; json?: boolean }

const states = ['waiting', 'running', 'ended'] as const
const limitMax = 10_000

export function define(command: Command, environment: Environment): void {
  command
    .command('list')
    .description('tasks, the newest first')
    .option('--state <state>', `only these: ${states.join(', ')}`)
    .option('--limit <n>', 'at most so many', '20')
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one array')
    .action((options: ListOptions) => list(options, environment))
  command
    .command('show')
    .argument('<task>')
    .description('one task: what was asked, what was done, what it proved')
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one object')
    .action((taskId: string, options: ShowOptions) => show(taskId, options, environment))
}

async function list(options: ListOptions, environment: Environment): Promise<void> {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    throw new UsageError('option-value', `--limit is a number from 1 to ${limitMax}`)
  const state = states.find(name => name === options.state)
  if (options.state !== undefined && state === undefined) throw new UsageError('option-value', `--state is one of ${states.join(', ')}`)
  await withLedger(environment, { data: options.data }, async ({ ledger, dataDir }) => {
    const rows = await ledger.tasks({ limit, ...(state ? { state } : {}) })
    if (options.json) process.stdout.write(`${toSafeJson(rows)}\n`)
    else if (rows.length === 0)
      process.stdout.write(`no tasks in ${escapeText(dataDir)}; start one: grokbot run "/grok fix …" --repo DIR\n`)
    else process.stdout.write(`${rows.map(row => rowText(row, Date.now())).join('\n')}\n`)
  })
}

function rowText(row: TaskRow, now: number): string {
  const { taskId, verb, repository, acceptedAt, endedAt, attempts } = row
  const word = stateWord(row)
  const took = clock((endedAt ?? now) - acceptedAt)
  const at = `${new Date(acceptedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `${escapeText(taskId)}  ${word.padEnd(10)} ${escapeShort(verb, 20).padEnd(7)} ${escapeShort(repository, 40).padEnd(24)} ${at}  ${took.padStart(7)}  ${plural(attempts, 'attempt')}`
}

function stateWord({ state, outcome, erasedAt }: TaskRow): string {
  return erasedAt === null ? (outcome ?? state) : 'erased'
}

async function show(taskId: string, options: ShowOptions, environment: Environment): Promise<void> {
  await withLedger(environment, { data: options.data }, async opened => {
    const row = await findTask(opened, taskId)
    const state = foldTask(await opened.ledger.readEvents(taskId))
    const out = outFilesOf(opened.dataDir, taskId)
    const result = resultOf(state, taskId, { ...out, signed: isSigned(out.bundle) }, (row.endedAt ?? Date.now()) - row.acceptedAt)
    const effects = Object.values(state.effects).map(({ kind, state: phase, tries, reason, remote }) => ({
      kind,
      state: phase,
      tries,
      reason,
      remote,
    }))
    if (options.json)
      process.stdout.write(`${toSafeJson({ ...row, result: row.outcome === null || row.erasedAt !== null ? null : result, effects })}\n`)
    else
      process.stdout.write(`${(row.erasedAt === null ? showText(row, state, result) : erasedText(row, row.erasedAt, result)).join('\n')}\n`)
  })
}

/** Only what the headers and the row still say: whatever stood in a payload is not known any more. */
function erasedText(row: TaskRow, erasedAt: number, { bundle, durationMs }: RecordedResult): string[] {
  const rows: [string, string][] = [
    ['task', `${row.taskId}  ${stateWord(row)}  ${clock(durationMs)}`],
    ['in', escapeText(row.repository)],
    ['ended', `${row.outcome ?? row.state}, ${plural(row.attempts, 'attempt')}`],
    ['erased', `${new Date(erasedAt).toISOString()}: the headers are left, what was asked, done and proved is not`],
    ...(bundle ? [['bundle', escapeText(bundle)] as [string, string]] : []),
  ]
  return rows.map(([name, text]) => `${name.padEnd(8)} ${text}`)
}

function showText(row: TaskRow, state: TaskState, result: RecordedResult): string[] {
  const asked = state.accepted ?? state.refused
  const rows: [string, string][] = [
    ['task', `${row.taskId}  ${stateWord(row)}  ${clock(result.durationMs)}`],
    [
      'asked',
      asked
        ? `${escapeShort(asked.command.verb, 20)} "${escapeShort(asked.subject?.title ?? asked.command.text, 120)}" by ${escapeText(asked.requester.login)}`
        : 'erased',
    ],
    [
      'in',
      `${escapeText(row.repository)}${state.accepted ? ` at ${escapeText(state.accepted.base.ref)} ${state.accepted.base.sha.slice(0, 12)}` : ''}`,
    ],
    ['reason', state.outcome ? reasonText(result) : row.state],
    ['sandbox', `${result.sandbox.state}${result.sandbox.profile ? `, profile ${escapeText(result.sandbox.profile)}` : ''}`],
    [
      'used',
      `${plural(result.usage.turns, 'turn')}, ${result.usage.inputTokens + result.usage.outputTokens} tokens, ${money(result.usage.costMicroUsd)}, ${plural(row.attempts, 'attempt')}`,
    ],
    [
      'checks',
      result.evidence.newCodeNewTests.checks.map(check => `${escapeShort(check.name, 80)} ${check.passed ? 'pass' : 'fail'}`).join(', ') ||
        'none',
    ],
    [
      'change',
      result.files.length === 0
        ? 'none'
        : result.files
            .map(file => escapeText(file.path))
            .slice(0, 20)
            .join(', '),
    ],
    ...(result.leftOut.length === 0 ? [] : [['left out', leftOutText(result)] as [string, string]]),
    ...Object.values(state.effects).map(
      ({ kind, state: phase, remote, reason }) =>
        ['effect', `${kind} ${phase}${urlOf(remote)}${reason ? `, ${escapeShort(reason, 200)}` : ''}`] as [string, string],
    ),
    ...(result.patch ? [['patch', escapeText(result.patch)] as [string, string]] : []),
    ...(result.bundle ? [['bundle', escapeText(result.bundle)] as [string, string]] : []),
  ]
  return rows.map(([name, text]) => `${name.padEnd(8)} ${text}`)
}

function urlOf(remote: Record<string, unknown> | null): string {
  return typeof remote?.url === 'string' ? ` ${escapeText(remote.url)}` : ''
}
