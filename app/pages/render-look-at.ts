import type { ChangedFile, TaskState } from '../../domain/index.ts'
import { short, startOf } from './foreign-text.ts'
import { type Html, html, lines } from './html.ts'
import { pagesLimits } from './limits.ts'

/** Where a reviewer looks first, found by code; then what the model says, under a heading that says whose words they are. */
export function lookAtSection(state: TaskState, showOutputs: boolean): Html {
  const notes = [...notedFiles(state.change?.files ?? []), ...leftOut(state), ...denied(state)]
  return html`<section aria-labelledby="look-at">
<h2 id="look-at">Look at</h2>
${notes.length === 0 ? html`<p>Nothing in the record asks for a closer look.</p>` : notes}
${modelWords(state, showOutputs)}
</section>`
}

function notedFiles(files: readonly ChangedFile[]): Html[] {
  const noted = files.filter(({ notes, added }) => notes.length > 0 || added === null)
  if (noted.length === 0) return []
  return [
    html`<h3>Files with a note</h3>`,
    fileList(
      noted.map(file => ({ path: file.path, words: notesOf(file).join(', ') })),
      '; change.patch has all',
    ),
  ]
}

/** What is said of a file beside how many lines it has more and less. */
export function notesOf({ status, from, notes, added }: ChangedFile): string[] {
  const moved = from === null ? status : `${status} from ${from}`
  return [...(status === 'modified' ? [] : [moved]), ...(added === null ? ['binary'] : []), ...notes]
}

function leftOut({ change }: TaskState): Html[] {
  const rows = [...(change?.refused ?? []), ...(change?.leftOut ?? [])]
  if (rows.length === 0) return []
  return [
    html`<h3>Not part of the change</h3>`,
    fileList(
      rows.map(({ path, reason }) => ({ path, words: reason })),
      '; the operator’s record has all',
    ),
  ]
}

function fileList(rows: readonly { path: string; words: string }[], where: string): Html {
  const shown = rows.slice(0, pagesLimits.pageFilesMax)
  const more = rows.length - shown.length
  return html`<ul>
${shown.map(({ path, words }) => html`<li><code>${short(path)}</code>: ${short(words)}</li>\n`)}</ul>
${more > 0 ? html`<p class="quiet">${more} more are left out${where}.</p>` : null}`
}

function denied({ session }: TaskState): Html[] {
  const calls = (session?.turns ?? []).flatMap(({ calls }) =>
    calls.flatMap(({ settled }) => (settled?.status === 'denied' ? [settled] : [])),
  )
  if (calls.length === 0) return []
  const shown = calls.slice(-pagesLimits.pageDeniedMax)
  return [
    html`<h3>Denied</h3>
<p>${calls.length} ${calls.length === 1 ? 'call was' : 'calls were'} denied.${calls.length > shown.length ? ` The newest ${shown.length} of them; bundle.json has all.` : ''}</p>
<ul>
${shown.map(({ name, turn, decision }) => html`<li>turn ${turn}: <code>${short(name)}</code>, rule <code>${short(decision.rule)}</code>: ${short(decision.reason)}</li>\n`)}</ul>`,
  ]
}

function modelWords({ session }: TaskState, showOutputs: boolean): Html | null {
  const text = session?.ended?.text ?? ''
  if (text.trim() === '') return null
  const heading = html`<h3>What the model says (not checked)</h3>`
  if (!showOutputs) return html`${heading}\n<p>It is ${withheld}</p>`
  const { text: words, leftOut: left } = startOf(text, pagesLimits.pageWordsCharactersMax)
  return html`${heading}
<pre>
${lines(words)}</pre>
${left > 0 ? html`<p class="quiet">${left} more characters are left out; bundle.json has them all.</p>` : null}`
}

/** Why something of a public repository is not shown. */
export const withheld = 'left out, as in bundle.json: the repository is public.'
