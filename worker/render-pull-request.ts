import {
  type ChangedFile,
  evidenceRows,
  lackWords,
  lastSandbox,
  money,
  type TaskAccepted,
  type TaskState,
  taintWords,
} from '../domain/index.ts'
import { joinBlocks, makeInert, makeInertForCommit } from '../effects/index.ts'
import { withheldWords, withoutSecrets } from '../telemetry/index.ts'
import { type AnswerParts, cleanHeading, type PartName, partNames, readAnswerParts } from './answer-parts.ts'
import { branchFolder, workerLimits } from './limits.ts'
import { pageWords, type RunLinks } from './run-links.ts'

/** GitHub's own words: the last lines of a commit's message, after two that are empty. Drafts start workflows too. */
export const skipChecks = '\n\nskip-checks: true\n'

/** At most 72 characters, one line, imperative as the model's first line has it; nothing in it can ping or close. */
export function renderTitle(answer: string, subject: TaskAccepted['subject']): string {
  // The whole answer is looked at: its first line alone may be half of a credential.
  const clean = withoutSecrets(answer)
  const { title } = readAnswerParts(clean === withheldWords ? '' : clean)
  return inertTitle(
    (title || cleanHeading(withoutSecrets(subject?.title ?? '')) || 'Change').replace(/\s+/g, ' '),
    workerLimits.titleCharactersMax,
  )
}

/** Cut before it is made inert, and further as long as that makes it too long: a cut behind would bring words to life. */
function inertTitle(text: string, charactersMax: number): string {
  const cut =
    text.length <= charactersMax
      ? text
      : `${text
          .slice(0, charactersMax - 1)
          .replace(/[\ud800-\udbff]$/, '')
          .trimEnd()}…`
  const title = makeInertForCommit(cut)
  if (title.length <= workerLimits.titleCharactersMax || charactersMax <= 1) return title.slice(0, workerLimits.titleCharactersMax)
  return inertTitle(text, Math.max(1, charactersMax - (title.length - workerLimits.titleCharactersMax)))
}

/** The body as a person reads it: verdict first, evidence by code, the model's prose in its own block, all of it listed. */
export function renderPullRequest(state: TaskState, prefix: string, charactersMax: number, links: RunLinks | null): string {
  const accepted = required(state.accepted, 'task.accepted')
  const { change, commit, verdict, session } = state
  const text = session?.ended?.text ?? ''
  const files = change?.files ?? []
  const proven = verdict?.verdict === 'proven'
  const spread = holdsSpread(state)
  const parts = readAnswerParts(spread ? '' : withoutSecrets(text))
  return joinBlocks(
    [
      proven ? '' : `**Draft: no check proves this.** ${(verdict?.reasons ?? []).join('; ')}`,
      taintBlock(state, proven),
      ciBlock(commit),
      branchBlock(commit),
      resultLine(state, accepted, spread ? '' : text),
      said(state, parts, ['why']),
      checksTable(state, accepted.base.sha, commit?.sha ?? ''),
      said(state, parts, ['lookFirst', 'notTested']),
      ...(spread ? [withheldWords] : [changedTests(files), leftOut(change), filesBlock(state, files), modelBlock(state, parts)]),
      pageWords(links),
      `<sub>Asked by @${accepted.requester.login}${accepted.subject ? ` in #${accepted.subject.number}` : ''}. Comment \`${prefix} help\` for what else it can do.</sub>`,
    ],
    charactersMax,
  )
}

/** What it does in one line, the model's, and the issue it closes. */
function resultLine({ taint }: TaskState, { subject }: TaskAccepted, text: string): string {
  const closes = subject?.kind === 'issue' ? `Closes #${subject.number}` : ''
  if (text.trim() === '') return closes
  const result = makeInert(renderTitle(text, subject), taint.length > 0 ? 'shown' : 'kept')
  return `${result}. ${closes}`.trim()
}

/** What a stranger wrote may have steered the session, whatever the checks say about its result. */
export function taintBlock({ taint }: TaskState, proven: boolean): string {
  if (taint.length === 0) return ''
  const words = [...new Set(taint.map(({ source }) => cell(taintWords(source))))].join(', ')
  return `**${proven ? 'Draft' : 'Read with care'}: ${words}.** ${taint.map(({ detail }) => cell(detail)).join('; ')}`
}

/** Said from the commit itself, so that it is so. */
export function ciBlock(commit: TaskState['commit']): string {
  if (!commit?.message.endsWith(skipChecks)) return ''
  return [
    '**CI has not started on this**: the commit carries `skip-checks: true`, and required checks stay pending until a person pushes to this branch.',
    'Workflows of `pull_request_target` are not stopped by it.',
  ].join(' ')
}

function branchBlock(commit: TaskState['commit']): string {
  if (!commit?.branch.startsWith(`${branchFolder}-`)) return ''
  return `The branch is called \`${cell(commit.branch)}\`: one called \`${branchFolder}\` keeps git from making any below \`${branchFolder}/\`.`
}

/** Whether the model has spread a credential over its words and the names of its files, with words of ours between. */
export function holdsSpread({ change, session }: TaskState): boolean {
  const names = [...(change?.files ?? []), ...(change?.leftOut ?? []), ...(change?.refused ?? [])].map(file => file.path)
  return withoutSecrets([...names, session?.ended?.text ?? ''].join('\n')) === withheldWords
}

function checksTable(state: TaskState, base: string, head: string): string {
  const rows = evidenceRows(state)
  if (rows.length === 0) return 'No check was run: none is configured and none could be detected.'
  return [
    `| check, run in a fresh sandbox after the session | base \`${base.slice(0, 7)}\` | this PR \`${head.slice(0, 7)}\` |`,
    '|---|---|---|',
    ...rows.map(({ check, words, before, after }) => {
      const name = check === null ? words : `\`${cell(check)}\`${words === '' ? '' : ` (${words})`}`
      return `| ${name} | ${before} | ${after} |`
    }),
  ].join('\n')
}

export function changedTests(files: readonly ChangedFile[]): string {
  const tests = files.filter(file => file.notes.includes('test file') || file.notes.includes('starts the checks'))
  return tests.length === 0 ? '' : `**Changed tests or check files**: ${tests.map(file => `\`${cell(file.path)}\``).join(', ')}`
}

export function leftOut(change: TaskState['change']): string {
  const rows = [...(change?.leftOut ?? []), ...(change?.refused ?? [])]
  return rows.length === 0 ? '' : `**Left out**: ${rows.map(({ path, reason }) => `\`${cell(path)}\` (${reason})`).join(', ')}`
}

function filesBlock(state: TaskState, files: readonly ChangedFile[]): string {
  const calls = (state.session?.turns ?? []).flatMap(turn => turn.calls).flatMap(call => (call.settled ? [call.settled] : []))
  const commands = calls.filter(call => call.kind === 'execute' && call.status !== 'denied').length
  const denied = calls.filter(call => call.status === 'denied')
  const rows = files.map(
    file =>
      `| \`${cell(file.path)}\` | ${file.added ?? 'binary'} | ${file.removed ?? 'binary'} | ${[file.status === 'modified' ? '' : file.status, ...file.notes].filter(Boolean).join(', ')} |`,
  )
  const sandbox = lastSandbox(state)
  return [
    `<details><summary>${files.length} ${plural(files.length, 'file')} changed, ${commands} ${plural(commands, 'command')} run, ${denied.length} denied${costWords(state)}</summary>`,
    '',
    '| file | + | − | note |',
    '|---|---|---|---|',
    ...rows,
    '',
    sandbox
      ? `Sandbox: ${sandbox.state}, profile ${sandbox.profile}${sandbox.missing.length > 0 ? `, ${sandbox.missing.map(lack => cell(lackWords(lack))).join(', ')}` : ''}.`
      : '',
    ...setupLine(state),
    ...denied.map(call => `Denied: \`${cell(call.name)}\` (rule \`${cell(call.decision.rule)}\`).`),
    ...state.taint.map(taint => `Read from outside: ${cell(taint.source)}, ${cell(taint.detail)}.`),
    `Model ${state.session?.started?.model ?? 'unknown'}, ${state.session?.turns.length ?? 0} turns. A signed record of all of it is with the operator; \`grokbot verify\` checks it.`,
    '</details>',
  ].join('\n')
}

/** Nothing where a price is not known: a sum of the rest would be too low. */
function costWords({ spent }: TaskState): string {
  const known = spent.unpriced === 0 && spent.lostRequests === 0 && spent.costMicroUsd > 0
  return known ? `, ${money(spent.costMicroUsd)}` : ''
}

/** What setup was let to reach and what not: a refused place is often the reason why a check fails. */
function setupLine({ setup }: TaskState): string[] {
  if (!setup || setup.commands.length === 0) return []
  const commands = setup.commands.map(command => `\`${cell(command)}\``).join(', ')
  const hosts = setup.hosts.map(host => `\`${cell(host)}\``).join(', ')
  const detected = setup.source === 'detected' ? ' (detected)' : ''
  const profile = setup.sandbox ? `, profile ${setup.sandbox.profile}` : ''
  return [`Setup: ${commands}${detected}${profile}, exit ${setup.exitCode ?? 'unknown'}${hosts ? `; network: ${hosts}` : ''}.`]
}

/** The model's own words under labels of ours. Made inert with the label before them: what a line begins with decides what is code. */
export function said({ taint }: TaskState, parts: AnswerParts, names: readonly PartName[]): string {
  const lines = names.filter(name => parts[name] !== '').map(name => `**${partNames[name]}**: ${parts[name]}`)
  return makeInert(lines.join('\n'), taint.length > 0 ? 'shown' : 'kept')
}

export function modelBlock(state: TaskState, { rest }: Pick<AnswerParts, 'rest'>): string {
  return rest === '' ? '' : `**What the model says about it** (not checked)\n\n${quoted(rest, state)}`
}

/** The model's words as a block of their own: whatever they open ends with the quote, and no line of theirs looks like ours. */
export function quoted(text: string, { taint }: TaskState): string {
  const inert = makeInert(text, taint.length > 0 ? 'shown' : 'kept')
  return inert
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n')
}

/** Foreign text inside a table cell or code span of ours. */
function cell(text: string): string {
  return text.replace(/[`|\r\n<]/g, ' ').slice(0, 200)
}

function plural(count: number, word: string) {
  return count === 1 ? word : `${word}s`
}

function required<T>(value: T | null, type: string): T {
  if (value === null) throw new Error(`the task has no ${type} event`)
  return value
}
