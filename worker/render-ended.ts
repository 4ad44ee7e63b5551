import { catalogue, deliveryWords, type EffectState, hasPassed, type Payload, type ProblemCode, type TaskState } from '../domain/index.ts'
import { withoutSecrets } from '../telemetry/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { workerLimits } from './limits.ts'
import { isQuestion } from './road.ts'
import { applyWords, pageWords, patchWords, recordWords } from './run-links.ts'
import { costWords, type EndView, inCode, inertStart, resumedLines, tookWords, verbWords } from './words-of-end.ts'

type Check = Payload<'check.settled'>

/** How a task ended, as its comment and its check run say it: three lines, or what failed, what was kept and how to go on. */
export function renderEnded(view: EndView): string {
  return withoutSecrets(textOf(view))
}

function textOf(view: EndView): string {
  switch (view.end.outcome) {
    case 'succeeded':
      return doneText(view)
    case 'cancelled':
      return cancelledText(view)
    case 'superseded':
      return `${verbWords(view.state)} — ${inertStart(view.end.reason, view.state, 1_000)}.`
    default:
      return view.end.patchOnly === undefined ? failedText(view) : patchText(view)
  }
}

function doneText({ state, now, links }: EndView): string {
  const { accepted } = state
  const head = `${verbWords(state)} — done in ${tookWords(state, now)}${costWords(state)}${resultOf(state)}`
  if (accepted && isQuestion({ accepted })) return [head, ...resumedLines(state)].join('\n\n')
  return [head, [[checksLine(state), pageWords(links)].filter(Boolean).join(' '), ...resumedLines(state)].join('\n')].join('\n\n')
}

/** What there is to look at; a question's answer stands above. */
function resultOf(state: TaskState): string {
  const done = (kind: EffectState['kind']) =>
    Object.values(state.effects).find(effect => effect.kind === kind && effect.state === 'confirmed')
  const [number, places] = [done('pull-request')?.remote?.['number'], done('review')?.remote?.['comments']]
  if (number !== undefined) return `: #${Number(number)}`
  if (places !== undefined) return `: suggested in ${Number(places)} ${Number(places) === 1 ? 'place' : 'places'}`
  return pushedCommit(state) === null ? '' : `: \`${pushedCommit(state)}\``
}

function cancelledText({ state, end, now, taskId, links, prefix }: EndView): string {
  const patch = keptPatch(state) ? ` ${patchWords(taskId, links, 'Patch so far')}.` : ''
  const line = (reason: string) =>
    `${verbWords(state)} — ${reason} after ${tookWords(state, now)}${costWords(state)}.${pushedWords(state)}${patch}`
  if (end.code === undefined || wishes.has(end.code)) return line(inertStart(end.reason, state, 1_000))
  return [line(reasonWords(end.reason, end, state)), goOnLines({ state, end, prefix }).join('\n')].join('\n\n')
}

/** What people have asked for is no problem, and nothing to look up. */
const wishes: ReadonlySet<ProblemCode> = new Set(['cancelled', 'thread-closed'])

/** The words of a lower rung: what was asked for is done, and lies where it could be put. */
function patchText({ state, end, taskId, links }: EndView): string {
  const proven = state.verdict?.verdict === 'proven'
  return [
    `${verbWords(state)} — done, delivered as a patch${costWords(state).replace(', ', '. ')}`,
    `The change is ready${proven ? ' and its checks pass' : ''}, but ${reasonWords(end.patchOnly ?? '', end, state)}.${pushedLater(state)}`,
    ...(proven ? [] : [`No check proves it${reasonsOf(state)}.`]),
    [`Apply it: ${applyWords(links)}${links ? '' : ` with the patch from ${recordWords(taskId)}`}`, ...resumedLines(state)].join('\n'),
  ].join('\n\n')
}

function failedText({ state, end, now, prefix, taskId, links }: EndView): string {
  const word =
    end.outcome === 'errored'
      ? 'failed, our fault,'
      : end.outcome === 'timed-out'
        ? 'out of time'
        : end.outcome === 'refused'
          ? 'refused'
          : 'failed'
  const failing = state.checks.newCodeNewTests.find(check => !hasPassed(check))
  return [
    `${verbWords(state)} — ${word} after ${tookWords(state, now)}${costWords(state)}.${pushedWords(state)}`,
    // Without a change nothing fails with it.
    [...stillFailing(keptPatch(state) ? failing : undefined), sentence(reasonWords(end.reason, end, state))].join('\n'),
    [
      ...(keptPatch(state) && !isDelivered(state)
        ? [`- Kept: ${patchWords(taskId, links, 'the change as a patch')}; apply it with ${applyWords(links)}`]
        : []),
      ...goOnLines({ state, end, prefix }),
    ].join('\n'),
    ...resumedLines(state),
    ...outputBlock(keptPatch(state) ? failing : undefined),
  ].join('\n\n')
}

/** What may be done now, as the catalogue knows it; what it calls fix is what was asked for. */
function goOnLines({ state, end, prefix }: Pick<EndView, 'state' | 'end' | 'prefix'>): string[] {
  const verb = state.accepted?.command.verb ?? 'fix'
  // An old record does not say why, and what helps most ends helps there.
  const [first, second] = catalogue[end.code ?? 'unproven'].next.map(text =>
    text.replaceAll('/grok fix', `${prefix} ${verb}`).replaceAll('`/grok ', `\`${prefix} `),
  )
  return [`- Go on: ${first}`, ...(second === undefined ? [] : [`- Or ${second}`])]
}

function reasonWords(reason: string, { code }: Pick<TaskEnd, 'code'>, state: TaskState): string {
  return inertStart(reason, state, 1_000, code === undefined ? '' : ` (\`${code}\`)`)
}

/** Every sentence about what is at GitHub comes from the effects. A question pushes nothing, so nothing is said of it. */
function pushedWords({ accepted, effects }: TaskState): string {
  if (accepted && isQuestion({ accepted })) return ''
  const words = deliveryWords({ accepted, effects }) ?? 'nothing was pushed'
  return ` ${sentence(words)}.`
}

/** Of a lower rung only what is not expected: a branch without its pull request. */
function pushedLater(state: TaskState): string {
  return deliveryWords(state) === null ? '' : pushedWords(state)
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** The whole of the change is at GitHub, where people see it. */
function isDelivered(state: TaskState): boolean {
  const pull = Object.values(state.effects).some(({ kind, state: at }) => kind === 'pull-request' && at === 'confirmed')
  return pull || pushedCommit(state) !== null
}

function keptPatch({ change }: TaskState): boolean {
  return change !== null && change.files.length > 0
}

/** The commit on a pull request's own branch, short; null = there is none. */
export function pushedCommit({ accepted, effects }: Pick<TaskState, 'accepted' | 'effects'>): string | null {
  if (!accepted?.pull) return null
  const push = Object.values(effects).findLast(effect => effect.kind === 'push')
  return push?.state === 'confirmed' ? String(push.remote?.['sha']).slice(0, 7) : null
}

export function checksLine({ checks }: Pick<TaskState, 'checks'>): string {
  const passed = checks.newCodeNewTests.filter(hasPassed)
  if (passed.length === 0) return 'No check was run.'
  return `Checks passed: ${passed.map(({ name, counts }) => `\`${inCode(name)}\`${counts ? ` (${counts.passed})` : ''}`).join(', ')}.`
}

function stillFailing(check: Check | undefined): string[] {
  if (!check) return []
  const { counts, killedBy, exitCode, name } = check
  if (counts && counts.failed > 0)
    return [`After the change ${counts.failed} of ${counts.passed + counts.failed} tests still fail (\`${inCode(name)}\`).`]
  return [`After the change \`${inCode(name)}\` still fails, ${killedBy ? `killed: ${killedBy}` : `exit ${exitCode}`}.`]
}

function reasonsOf(state: TaskState): string {
  const reasons = state.verdict?.reasons ?? []
  return reasons.length === 0 ? '' : `: ${inertStart(reasons.join('; '), state, 1_000)}`
}

/** The end of what the check printed. Code in a fence that nothing in it can close: GitHub gives nothing in there a meaning. */
function outputBlock(check: Check | undefined): string[] {
  if (!check) return []
  const text = withoutSecrets(check.output)
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trimEnd()
  const lines = text.slice(-workerLimits.outputShownCharactersMax).split('\n').slice(-workerLimits.outputShownLinesMax)
  if (text === '') return []
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return [
    `<details><summary>Failing test output (${lines.length} ${lines.length === 1 ? 'line' : 'lines'})</summary>`,
    `${fence}\n${lines.join('\n')}\n${fence}`,
    '</details>',
  ]
}
