import { deliveryWords, endWords, evidenceRows, lackWords, lastSandbox, type TaskState, taintWords } from '../../domain/index.ts'
import { short } from './foreign-text.ts'
import { type Html, html } from './html.ts'
import { pagesLimits } from './limits.ts'

type Row = readonly [name: string, value: Html | string | null]

/** What a reviewer needs, from the record and in our own words: how it ended, what is proved, in which sandbox. */
export function verdictSection(state: TaskState): Html {
  const rows: readonly Row[] = [
    ['Outcome', outcomeOf(state)],
    ['Proved', provedOf(state)],
    ['Delivered', deliveredOf(state)],
    ['Sandbox', sandboxOf(state)],
    ['Setup', setupOf(state)],
    ['Model', modelOf(state)],
    ['Read with care', taintOf(state)],
    ['Resumed', resumedOf(state)],
  ]
  return html`<section aria-labelledby="verdict">
<h2 id="verdict">Verdict</h2>
<dl>${rows.map(([name, value]) => (value === null ? null : html`<dt>${name}</dt><dd>${value}</dd>\n`))}</dl>
${evidenceTable(state)}
</section>`
}

function outcomeOf({ outcome, refused, cancel }: TaskState): Html | string {
  const words = pagesLimits.pageWordsCharactersMax
  if (outcome) return html`<strong>${outcome.outcome}</strong>: ${short(endWords(outcome), words)}`
  if (refused) return html`<strong>refused</strong>: ${short(refused.words, words)}`
  return cancel ? `asked to stop by ${short(cancel.by)}; none yet` : 'none yet'
}

function provedOf({ verdict }: TaskState): Html | string | null {
  if (verdict === null) return null
  if (verdict.verdict === 'proven') return 'yes, by the checks below'
  const reasons = short(verdict.reasons.join('; '), pagesLimits.pageWordsCharactersMax)
  if (verdict.verdict === 'no-change') return `there is no change${reasons === '' ? '' : `: ${reasons}`}`
  return html`<strong>no</strong>: ${reasons}`
}

/** Kinds of effects that bring the result to where people are. */
const deliveries: readonly string[] = ['pull-request', 'review', 'push']

function deliveredOf(state: TaskState): string | null {
  const sent = Object.values(state.effects).filter(({ kind }) => deliveries.includes(kind))
  const pull = sent.findLast(({ kind }) => kind === 'pull-request')
  if (pull?.state === 'confirmed') {
    const isDraft = pull.remote?.['draft'] === true || pull.intent['draft'] === true
    return `${isDraft ? 'draft pull request' : 'pull request'} #${Number(pull.remote?.['number'])}`
  }
  const words = deliveryWords(state)
  if (words !== null) return short(words.replaceAll('`', ''))
  const last = pull ?? sent.at(-1)
  return last ? `${last.kind} ${last.state}${last.reason ? `: ${short(last.reason)}` : ''}` : null
}

function sandboxOf(state: TaskState): string | null {
  const sandbox = lastSandbox(state)
  if (sandbox === null) return null
  return [sandbox.state, `profile ${short(sandbox.profile)}`, ...sandbox.missing.map(lack => short(lackWords(lack)))].join(', ')
}

/** What setup printed is in no bundle, and so not here. */
function setupOf({ setup }: TaskState): Html | null {
  if (setup === null || setup.commands.length === 0) return null
  const hosts = setup.hosts.length === 0 ? '' : `; network: ${short(setup.hosts.join(' '))}`
  const detected = setup.source === 'detected' ? ' (detected)' : ''
  return html`<code>${short(setup.commands.join('; '))}</code>${detected}, exit ${setup.exitCode ?? 'unknown'}${hosts}`
}

function modelOf({ session }: TaskState): string | null {
  return session?.started ? short(session.started.model) : null
}

function taintOf({ taint }: TaskState): string | null {
  if (taint.length === 0) return null
  const words = [...new Set(taint.map(({ source }) => taintWords(source)))].join(', ')
  return short(`${words}: ${taint.map(({ detail }) => detail).join('; ')}`, pagesLimits.pageWordsCharactersMax)
}

function resumedOf({ attempts }: TaskState): string | null {
  const times = attempts.filter(({ recovers }) => recovers !== null).length
  return times === 0 ? null : `${times} ${times === 1 ? 'time' : 'times'}, after a process was lost`
}

function evidenceTable(state: TaskState): Html {
  const { accepted, change, session, commit, workspace } = state
  const rows = evidenceRows(state)
  if (rows.length === 0) {
    if (accepted === null || (change === null && session === null)) return html``
    return html`<p>No check was run.</p>`
  }
  const shown = rows.slice(0, pagesLimits.pageChecksMax)
  return html`<table class="evidence">
<caption>Checks, each run in a fresh sandbox after the session</caption>
<thead><tr><th scope="col">check</th><th scope="col">before <code>${(commit?.parent ?? workspace?.baseSha ?? '').slice(0, 7)}</code></th><th scope="col">after <code>${commit?.sha.slice(0, 7) ?? ''}</code></th></tr></thead>
<tbody>
${shown.map(({ check, words, before, after }) => {
  const name = check === null ? words : html`<code>${short(check)}</code>${words === '' ? '' : ` (${words})`}`
  return html`<tr><th scope="row">${name}</th><td>${short(before)}</td><td>${short(after)}</td></tr>\n`
})}</tbody>
</table>
${rows.length > shown.length ? html`<p class="quiet">${rows.length - shown.length} more lines are left out; bundle.json has every check.</p>` : null}`
}
