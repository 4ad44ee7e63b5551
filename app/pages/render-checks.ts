import { type Cell, duration, type Payload, resultWords, type TaskState } from '../../domain/index.ts'
import { endOf, short } from './foreign-text.ts'
import { type Html, html, lines } from './html.ts'
import { pagesLimits } from './limits.ts'
import { withheld } from './render-look-at.ts'

type Check = Payload<'check.settled'>

/** The change first, as it will be; the base last, since it only says how things were. */
const cellsAsShown = [
  ['newCodeNewTests', 'with the change'],
  ['newCodeBaseTests', "the new code with the base's tests"],
  ['baseCodeNewTests', 'the old code with the new tests'],
  ['baseCodeBaseTests', 'the base, without the change'],
] as const satisfies readonly (readonly [Cell, string])[]

/** Every check by cell with the end of its output, those that fail on top; the first that fails with the change is open. */
export function checksSection({ checks }: TaskState, showOutputs: boolean): Html {
  const all = cellsAsShown.flatMap(([cell, where]) => byFailure(checks[cell]).map(check => ({ check, where })))
  const shown = all.slice(0, pagesLimits.pageChecksMax)
  // That the base fails is why a change was asked for.
  const firstFailing = shown.find(({ check }) => check.cell.startsWith('newCode') && !check.cached && !passes(check))?.check
  const withOutput = new Set(
    shown
      .map(({ check }) => check)
      .filter(check => !check.cached)
      .slice(0, pagesLimits.pageOutputsMax),
  )
  return html`<section aria-labelledby="checks">
<h2 id="checks">Checks</h2>
${all.length === 0 ? html`<p>No check was run.</p>` : null}
${all.length > 0 && !showOutputs ? html`<p>What the checks printed is ${withheld}</p>` : null}
${shown.map(({ check, where }) => {
  const output = showOutputs && withOutput.has(check) ? outputOf(check, check === firstFailing) : null
  return html`<h3><code>${short(check.name)}</code>, ${where}: ${short(resultWords(check))}</h3>
<p class="quiet">${ranWords(check)}</p>
${output}`
})}
${all.length > shown.length ? html`<p class="quiet">${all.length - shown.length} more are left out; bundle.json has every check.</p>` : null}
</section>`
}

function byFailure(checks: readonly Check[]): Check[] {
  return [...checks.filter(check => !passes(check)), ...checks.filter(passes)]
}

function passes({ exitCode, killedBy }: Check): boolean {
  return exitCode === 0 && killedBy === null
}

function ranWords(check: Check): string {
  const { source, cached, sandbox, durationMs, setup, outputBytes } = check
  return [
    ...(source === 'detected' ? ['detected'] : []),
    cached ? 'not run again: the same tree as another' : `took ${duration(durationMs)}`,
    `sandbox ${sandbox.state}`,
    ...(setup ? [`setup exit ${setup.exitCode ?? 'unknown'}`] : []),
    `${outputBytes} bytes of output`,
  ].join(', ')
}

function outputOf({ output }: Check, isOpen: boolean): Html | null {
  if (output.trim() === '') return null
  const { text, leftOut } = endOf(output, pagesLimits.pageOutputCharactersMax)
  const inside = html`<summary>Output</summary>
${leftOut > 0 ? html`<p class="quiet">${leftOut} characters before this are left out; bundle.json has what was recorded.</p>` : null}
<pre>
${lines(text)}</pre>`
  return isOpen ? html`<details open>${inside}</details>` : html`<details>${inside}</details>`
}
