import type { TaskState } from '../../domain/index.ts'
import { short } from './foreign-text.ts'
import { type Html, html } from './html.ts'
import { pagesLimits } from './limits.ts'
import { notesOf } from './render-look-at.ts'

export function changeSection({ change, commit }: TaskState): Html {
  return html`<section aria-labelledby="change">
<h2 id="change">Change</h2>
${change === null || change.files.length === 0 ? html`<p>No file was changed.</p>` : filesTable(change)}
${
  commit
    ? html`<dl>
<dt>Commit</dt><dd><code>${commit.sha}</code></dd>
<dt>Tree</dt><dd><code>${commit.tree}</code></dd>
<dt>Parent</dt><dd><code>${commit.parent}</code></dd>
<dt>Branch</dt><dd><code>${short(commit.branch)}</code></dd>
</dl>`
    : null
}
</section>`
}

function filesTable({ files }: NonNullable<TaskState['change']>): Html {
  const shown = files.slice(0, pagesLimits.pageFilesMax)
  const sum = (field: 'added' | 'removed') => files.reduce((total, file) => total + (file[field] ?? 0), 0)
  return html`<table class="files">
<caption>${files.length} ${files.length === 1 ? 'file' : 'files'}, lines: ${sum('added')} added, ${sum('removed')} removed</caption>
<thead><tr><th scope="col">file</th><th scope="col" class="number"><abbr title="lines added">+</abbr></th><th scope="col" class="number"><abbr title="lines removed">−</abbr></th><th scope="col">note</th></tr></thead>
<tbody>
${shown.map(
  file =>
    html`<tr><th scope="row"><code>${short(file.path)}</code></th><td class="number">${file.added ?? 'binary'}</td><td class="number">${file.removed ?? 'binary'}</td><td>${short(notesOf(file).join(', '))}</td></tr>\n`,
)}</tbody>
</table>
${files.length > shown.length ? html`<p class="quiet">${files.length - shown.length} more files are left out; change.patch has them all.</p>` : null}`
}
