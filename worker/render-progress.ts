import { duration, money, type Payload, resultWords, type TaskState } from '../domain/index.ts'
import { withoutSecrets } from '../telemetry/index.ts'
import { workerLimits } from './limits.ts'
import { countFiles, filesRead } from './read-files.ts'
import type { RunLinks } from './run-links.ts'
import { clock, costWords, inCode, inertStart, resumedLines, verbWords } from './words-of-end.ts'

/** What is happening now, for the comment of a running task; `doing` is our own word or the model's tool call. */
export type RunningView = {
  state: TaskState
  now: number
  doing: string
  next: string
  prefix: string
  updateGapMs: number
  links: RunLinks | null
}

/** At most 12 lines; the verdict first, so that a mail's preview says enough. */
export function renderRunning(view: RunningView): string {
  return withoutSecrets(textOfRunning(view))
}

/** Nobody works on it for the moment, and nobody has to do anything. */
export function renderHandedBack({ state, now, prefix, links }: RunningView): string {
  const head = `${verbWords(state)} — handed back at ${clock(now)} UTC, waiting for another worker`
  const foot = [`${links ? `[Run page](${links.page}) · ` : ''}\`${prefix} cancel\` stops it`, ...resumedLines(state)]
  return withoutSecrets([head, '', ...doneLines(state), '', ...foot].join('\n'))
}

function textOfRunning({ state, now, doing, next, prefix, updateGapMs, links }: RunningView): string {
  const startedAt = state.attempts[0]?.at ?? now
  const limits = state.accepted?.limits
  const wall = limits ? ` of ${duration(limits.wallMs)}` : ''
  const cap = limits && limits.costMicroUsdMax !== null && state.spent.costMicroUsd > 0 ? ` of ${money(limits.costMicroUsdMax)}` : ''
  return [
    `${verbWords(state)} — running, ${duration(now - startedAt)}${wall}${costWords(state)}${cap}`,
    '',
    ...doneLines(state),
    `- Now: ${inertStart(doing.replace(/\s+/g, ' '), state, 120)}`,
    ...(next === '' ? [] : [`- Next: ${next}`]),
    '',
    `${links ? `[Run page](${links.page}) · ` : ''}\`${prefix} cancel\` stops it`,
    ...resumedLines(state),
    `<sub>as of ${clock(now)} UTC, updated at most every ${Math.round(updateGapMs / 1000)} s</sub>`,
  ].join('\n')
}

function doneLines(state: TaskState): string[] {
  const { session, setup, checks } = state
  const calls = (session?.turns ?? []).flatMap(turn => turn.calls).flatMap(call => call.settled ?? [])
  const lines = [
    ...(setup && setup.commands.length > 0 ? [`\`${inCode(setup.commands.join('; '))}\` exits ${setup.exitCode ?? 'unknown'}`] : []),
    ...readLine(state),
    ...calls.flatMap(callLine),
    ...checks.newCodeNewTests.map(check => `check \`${inCode(check.name)}\`, ${resultWords(check)}`),
  ]
  return lines.slice(-workerLimits.linesOfWorkMax).map(line => `- Done: ${line}`)
}

/** What changed something; what was denied or broke did not. */
function callLine({ kind, readOnly, status, meta, exitCode }: Payload<'tool.settled'>): string[] {
  if (readOnly || kind === 'plan' || (exitCode === null && status !== 'ok')) return []
  const what = `\`${inCode(labelOf(meta))}\``
  if (exitCode !== null) return [`${what} exits ${exitCode}`]
  return [kind === 'edit' ? `edited ${what}` : kind === 'write' ? `wrote ${what}` : what]
}

/** The subject stands in the session's first request. */
function readLine(state: TaskState): string[] {
  const files = countFiles(filesRead(state))
  const subject =
    state.session?.started && state.accepted?.subject ? [state.accepted.subject.kind === 'pull' ? 'the pull request' : 'the issue'] : []
  const parts = [...subject, ...(files > 0 ? [`${files} ${files === 1 ? 'file' : 'files'}`] : [])]
  return parts.length === 0 ? [] : [`read ${parts.join(' and ')}`]
}

function labelOf(meta: Record<string, unknown>): string {
  const input = meta['input']
  const fields = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  return String(fields['command'] ?? fields['path'] ?? meta['name'] ?? 'tool')
}
