import { duration, money, resultWords, type TaskState } from '../domain/index.ts'
import { makeInert } from '../effects/index.ts'
import { withoutSecrets } from '../telemetry/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { deliveryWords } from './delivery-words.ts'
import { workerLimits } from './limits.ts'

/** What is happening now, for the comment of a running task; `doing` is our own word or the model's tool call. */
export type RunningView = { state: TaskState; now: number; doing: string; prefix: string; updateGapMs: number }

/** At most 12 lines; the verdict first, so that a mail's preview says enough. */
export function renderRunning(view: RunningView): string {
  return withoutSecrets(textOfRunning(view))
}

function textOfRunning({ state, now, doing, prefix, updateGapMs }: RunningView): string {
  const accepted = state.accepted
  const startedAt = state.attempts[0]?.at ?? now
  const wall = accepted ? ` of ${duration(accepted.limits.wallMs)}` : ''
  const cost = state.spent.costMicroUsd > 0 ? `, ${money(state.spent.costMicroUsd)}` : ''
  return [
    `**grok ${accepted?.command.verb ?? 'run'}** — running, ${duration(now - startedAt)}${wall}${cost}`,
    '',
    ...doneLines(state),
    `- Now: ${inertStart(doing.replace(/\s+/g, ' '), state, 120)}`,
    ...resumedLine(state),
    '',
    `\`${prefix} cancel\` stops it`,
    `<sub>as of ${clock(now)} UTC, updated at most every ${Math.round(updateGapMs / 1000)} s</sub>`,
  ].join('\n')
}

/** The same comment when the task has ended: three lines, or what failed, what was kept and how to go on. */
export function renderEnded(state: TaskState, end: TaskEnd, now: number, prefix: string): string {
  return withoutSecrets(textOfEnded(state, end, now, prefix))
}

function textOfEnded(state: TaskState, end: TaskEnd, now: number, prefix: string): string {
  const accepted = state.accepted
  const verb = `**grok ${accepted?.command.verb ?? 'run'}**`
  const took = duration(now - (state.attempts[0]?.at ?? now))
  const cost = state.spent.costMicroUsd > 0 ? `, ${money(state.spent.costMicroUsd)}` : ''
  const pull = Object.values(state.effects).find(effect => effect.kind === 'pull-request' && effect.state === 'confirmed')
  const number = pull?.remote?.['number']
  if (end.outcome === 'succeeded')
    return [`${verb} — done in ${took}${cost}${number ? `: #${number}` : ''}`, '', checksLine(state)].join('\n')
  if (end.outcome === 'cancelled') return `${verb} — ${inertStart(end.reason, state, 1_000)} after ${took}${cost}. ${pushedWords(state)}`
  const pushed = pushedWords(state)
  const kept = state.change && state.change.files.length > 0 ? ['- Kept: the change as a patch, in the record of this run'] : []
  const word = end.outcome === 'errored' ? 'failed, our fault,' : end.outcome === 'timed-out' ? 'out of time' : 'failed'
  return [
    `${verb} — ${word} after ${took}${cost}. ${pushed}`,
    '',
    inertStart(end.reason, state, 1_000),
    '',
    ...kept,
    `- Go on: say more with \`${prefix} ${accepted?.command.verb ?? 'fix'} <what>\``,
    ...resumedLine(state),
  ].join('\n')
}

/**
 * Cut before it is made inert, since a cut through code of the filter's would bring to life what stands in it, and after
 * it was searched for credentials. A stranger may have chosen the words, and with them where a link leads.
 */
function inertStart(text: string, { taint }: TaskState, charactersMax: number): string {
  return makeInert(withoutSecrets(text).slice(0, charactersMax), taint.length > 0 ? 'shown' : 'kept')
}

function pushedWords(state: TaskState): string {
  const words = deliveryWords(state) ?? 'nothing was pushed'
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

function doneLines(state: TaskState): string[] {
  const calls = (state.session?.turns ?? []).flatMap(turn => turn.calls).filter(call => call.settled)
  const reads = calls.filter(call => call.settled?.readOnly).length
  const lines = [
    ...(state.setup && state.setup.commands.length > 0
      ? [`- Done: setup \`${inCode(state.setup.commands.join('; '))}\`, exit ${state.setup.exitCode}`]
      : []),
    ...(reads > 0 ? [`- Done: ${reads} ${reads === 1 ? 'look' : 'looks'} at files`] : []),
    ...calls
      .filter(call => !call.settled?.readOnly)
      .map(
        ({ settled }) =>
          `- Done: \`${inCode(labelOf(settled?.meta))}\`${settled?.exitCode === null || settled?.exitCode === undefined ? '' : ` exits ${settled.exitCode}`}`,
      ),
    ...state.checks.newCodeNewTests.map(check => `- Done: check \`${inCode(check.name)}\`, ${resultWords(check)}`),
  ]
  return lines.slice(-workerLimits.linesOfWorkMax)
}

function labelOf(meta: Record<string, unknown> | undefined): string {
  const input = meta?.['input']
  const fields = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  return String(fields['command'] ?? fields['path'] ?? meta?.['name'] ?? 'tool')
}

function checksLine(state: TaskState): string {
  const checks = state.checks.newCodeNewTests
  return checks.length === 0
    ? 'No check was run.'
    : `Checks passed: ${checks.map(check => `\`${inCode(check.name)}\` (${resultWords(check)})`).join(', ')}.`
}

function resumedLine(state: TaskState): string[] {
  const resumed = state.attempts.filter(attempt => attempt.recovers !== null)
  const last = resumed.at(-1)
  return last
    ? [
        `- Resumed at ${clock(last.at)} UTC${resumed.length > 1 ? `, for the ${resumed.length}. time` : ''}; nothing was asked or posted twice.`,
      ]
    : []
}

function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 16)
}

function inCode(text: string): string {
  return text.replace(/[`\r\n]/g, ' ').slice(0, 80)
}
