import path from 'node:path'
import { escapeShort, escapeText } from '../escape.ts'
import { clock, money, plural, tokens } from '../view/units.ts'
import { shellWord } from './local-repository.ts'
import type { RunResult } from './result.ts'

/** Everything of a report that is not in the result itself. */
export type ReportFacts = {
  root: string
  cwd: string
  commands: number
  denied: number
  /** A limit ended the session: said also where the change is proven. */
  endedByLimit: boolean
  /** How this program is called here, for the lines to paste. */
  program: string
  /** The folder of the public keys that the bundle is checked with. */
  keysDir: string
  /** The address of a model that gave no answer; null when it gave one. */
  silentModel: string | null
  outProblem: string | null
  notApplied: { reason: string; next: string } | null
}

const textColumnsMax = 400

/** The last lines of a run, for people: verdict first, what was proven, what there is, how to go on. */
export function renderReport(result: RunResult, facts: ReportFacts): string {
  const { usage, outcome } = result
  const spent = usage.costMicroUsd === null ? tokens(usage.inputTokens + usage.outputTokens) : money(usage.costMicroUsd)
  const counts = [plural(usage.turns, 'turn'), plural(facts.commands, 'command'), `${facts.denied} denied`].join(', ')
  const word = outcome === 'succeeded' ? 'done' : outcome
  const rows: [string, string][] = [
    [word, `${clock(result.durationMs)}  ${spent}  ${counts}`],
    ...(outcome === 'succeeded' && !facts.endedByLimit ? [] : [['why', reasonText(result)] as [string, string]]),
    ['check', checksText(result)],
    ['change', changeText(result, facts)],
    ...(result.leftOut.length === 0 ? [] : [['left out', leftOutText(result)] as [string, string]]),
    ...(result.bundle === null || !result.signed ? [] : [['verify', verifyText(result.bundle, facts)] as [string, string]]),
    ...nextTexts(result, facts).map((text, index) => [index === 0 ? 'next' : '', text] as [string, string]),
  ]
  const columns = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(columns)} ${text}`.trimEnd()).join('\n')
}

/** The code last, where a person finds it to ask `grokbot explain` about. */
export function reasonText({ reason, code }: Pick<RunResult, 'reason' | 'code'>): string {
  return `${escapeShort(reason, textColumnsMax)}${code === null ? '' : ` [${code}]`}`
}

function checksText({ evidence, verdict }: RunResult): string {
  const { checks } = evidence.newCodeNewTests
  if (checks.length === 0) return 'none was run'
  const shown = checks.map(({ name, passed, counts, killedBy, exitCode }) => {
    const label = escapeShort(name, 80)
    if (killedBy) return `${label} killed: ${escapeText(killedBy)}`
    if (passed) return counts ? `${label} ${counts.passed} pass` : `${label} pass`
    return counts && counts.failed > 0
      ? `${label} ${counts.failed} of ${counts.failed + counts.passed} fail`
      : `${label} fail, exit ${exitCode}`
  })
  return `${shown.join(' · ')}${verdict === 'unproven' ? ' (proves nothing yet)' : ''}`
}

function changeText({ files, patch, bundle, applied }: RunResult, { cwd, outProblem }: ReportFacts): string {
  const [added, removed] = [sum(files.map(file => file.added)), sum(files.map(file => file.removed))]
  const what = files.length === 0 ? 'none' : `${plural(files.length, 'file')} +${added} -${removed}`
  const places = [
    patch === null
      ? files.length > 0
        ? 'no patch file: too large for one, or it was ended before one was written'
        : ''
      : shownPath(cwd, patch),
    bundle === null ? '' : `bundle ${shownPath(cwd, bundle)}`,
    applied ? 'applied' : '',
    outProblem ? `(${escapeText(outProblem)})` : '',
  ]
  return [what, ...places.filter(place => place !== '')].join('   ')
}

/** Each file that the change does not hold and why, as many as a person reads. */
export function leftOutText({ leftOut }: Pick<RunResult, 'leftOut'>): string {
  const named = leftOut.slice(0, leftOutNamedMax).map(({ path, reason }) => `${escapeShort(path, 120)} (${escapeShort(reason, 120)})`)
  const more = leftOut.length - named.length
  return [...named, ...(more > 0 ? [`${more} more: --json names all`] : [])].join(', ')
}

const leftOutNamedMax = 10

function verifyText(bundle: string, { cwd, program, keysDir }: ReportFacts): string {
  return escapeText(`${program} verify ${shellWord(relativeTo(cwd, bundle))} --keys ${shellWord(keysDir)}`)
}

function nextTexts(result: RunResult, { root, cwd, notApplied, program, silentModel }: ReportFacts): string[] {
  const { outcome, patch, applied, taskId } = result
  if (notApplied) return [`not applied: ${escapeText(notApplied.reason)}`, escapeText(notApplied.next)]
  if (applied) return [`git${inRoot(root, cwd)} diff --cached`]
  const apply = patch === null ? null : escapeText(`git${inRoot(root, cwd)} apply --index ${shellWord(pathFor(cwd, patch, root))}`)
  if (outcome === 'succeeded') return apply === null ? [] : [apply]
  const look = `${program} replay ${taskId} shows what was done`
  if (outcome === 'cancelled') return apply === null ? [look] : [`the work so far: ${apply}`, look]
  if (silentModel !== null) return [`check OPENAI_BASE_URL: the model was asked for at ${escapeText(silentModel)}`, look]
  return apply === null ? [look] : [`read the change first, then: ${apply}`, look]
}

function inRoot(root: string, cwd: string): string {
  return root === cwd ? '' : ` -C ${shellWord(root)}`
}

/** Git resolves a patch's name from the folder it is called in, or from `-C`. */
function pathFor(cwd: string, file: string, root: string): string {
  return root === cwd ? shownPath(cwd, file) : file
}

function shownPath(cwd: string, file: string): string {
  return escapeText(relativeTo(cwd, file))
}

function relativeTo(cwd: string, file: string): string {
  const relative = path.relative(cwd, file)
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative
}

function sum(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0)
}
