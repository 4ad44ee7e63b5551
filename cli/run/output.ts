import type { Environment } from '../../config-schema/index.ts'
import { type TaskAccepted, type TaskState, took } from '../../domain/index.ts'
import { redact, redactStrings } from '../../telemetry/index.ts'
import type { TaskProgress } from '../../worker/index.ts'
import { escapeShort, escapeText, toSafeJson } from '../escape.ts'
import type { RunOptions } from '../run.ts'
import { cutTo, pad } from '../view/columns.ts'
import { sandboxText } from '../view/sandbox-text.ts'
import { money, plural } from '../view/units.ts'
import { openView, silentView, type View, type ViewHead } from '../view/view.ts'

/** Where a run's words go: people read standard error, programs standard output. */
export type RunOutput = {
  /** Whether lines are redrawn on a terminal, so that single keys make sense. */
  live: boolean
  progress(update: TaskProgress): void
  note(line: string): void
  toggleDetail(): void
  close(): void
}

type Facts = { taskId: string; model: string; startedAt: number }

/** What the model writes may hold what it was given, and these lines are a CI's log: no credential of ours leaves here. */
export function openRunOutput(state: TaskState, options: RunOptions, environment: Environment, facts: Facts): RunOutput {
  const output = outputOf({ ...state, accepted: redactStrings(state.accepted) }, options, environment, facts)
  return { ...output, progress: update => output.progress(redactStrings(update)), note: line => output.note(redact(line)) }
}

function outputOf(state: TaskState, options: RunOptions, environment: Environment, facts: Facts): RunOutput {
  if (options.streamJson) return streamOutput(state, facts)
  const stream = process.stderr
  const live = stream.isTTY === true && !options.plain && !environment.CI && (stream.columns ?? 0) >= columnsMin
  const view = options.quiet ? silentView : viewOf(state, options, environment, facts)
  return { ...view, live: live && !options.quiet }
}

const columnsMin = 60

function viewOf(state: TaskState, options: RunOptions, environment: Environment, { taskId, model, startedAt }: Facts): View {
  return openView({
    stream: process.stderr,
    detail: options.verbose,
    startedAt,
    now: () => performance.now(),
    head: headOf(state.accepted, taskId, model),
    plain: options.plain === true,
    ci: environment.CI !== undefined,
    colour: environment.NO_COLOR === undefined,
    hints: 'c cancel, d details, Ctrl-C twice kills',
  })
}

function headOf(accepted: TaskAccepted | null, taskId: string, model: string): ViewHead {
  const what = accepted?.subject?.title ?? accepted?.command.text ?? ''
  const title = `grok ${accepted?.command.verb ?? ''}  "${escapeShort(what, 120)}"`
  return {
    lines: [`${pad(cutTo(title, titleColumns), titleColumns)} ${escapeText(taskId)}`],
    opened: ({ sandbox, network }) =>
      [sandboxText(sandbox, network), escapeText(model), limitsText(accepted)].filter(text => text !== '').join(' · '),
  }
}

const titleColumns = 45

function limitsText(accepted: TaskAccepted | null): string {
  if (!accepted) return ''
  const { costMicroUsdMax, wallMs, turnsMax } = accepted.limits
  return `limits ${[...(costMicroUsdMax === null ? [] : [money(costMicroUsdMax)]), took(wallMs), plural(turnsMax, 'turn')].join(', ')}`
}

/** One object a line; what the view draws is in it, unescaped but for what a terminal could take for an order. */
function streamOutput(state: TaskState, { taskId, model, startedAt }: Facts): RunOutput {
  const write = (type: string, fields: object) =>
    void process.stdout.write(`${toSafeJson({ type, taskId, elapsedMs: Math.round(performance.now() - startedAt), ...fields })}\n`)
  const { accepted } = state
  write('accepted', {
    command: accepted?.command,
    subject: accepted?.subject?.title ?? null,
    base: accepted?.base,
    limits: accepted?.limits,
    model,
  })
  return {
    live: false,
    progress(update) {
      const { kind, ...fields } = update.kind === 'session' ? update.update : update
      write(update.kind === 'session' && kind === 'ended' ? 'session-ended' : kind, fields)
    },
    note: line => write('note', { text: line.trim() }),
    toggleDetail: () => undefined,
    close: () => undefined,
  }
}
