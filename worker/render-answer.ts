import { joinBlocks } from '../effects/index.ts'
import { withoutSecrets } from '../telemetry/index.ts'
import { workerLimits } from './limits.ts'
import { countFiles, filesRead, sourcesLine } from './read-files.ts'
import { quoted } from './render-pull-request.ts'
import { pageWords } from './run-links.ts'
import { costWords, type EndView, resumedLines, tookWords, verbWords } from './words-of-end.ts'

/** An answer: our line about it, the model's words as a block of their own, and which files were read, by the record. */
export function renderAnswer({ state, end, now, bodyCharactersMax, links }: EndView): string {
  const read = filesRead(state)
  const files = countFiles(read)
  const at = state.workspace ? ` at \`${state.workspace.baseSha.slice(0, 7)}\`` : ''
  const { answerCharactersMax: most } = workerLimits
  const text = withoutSecrets(end.summary)
  return joinBlocks(
    [
      `${verbWords(state)} — ${tookWords(state, now)}${costWords(state)}, read ${files} ${files === 1 ? 'file' : 'files'}${at}`,
      // Cut before it is made inert: a cut behind would bring words to life.
      quoted(text.slice(0, most), state),
      text.length > most ? `Cut at ${most.toLocaleString('en-US')} characters; the rest is in the run's record.` : '',
      [[sourcesLine(read), pageWords(links)].filter(Boolean).join(' '), ...resumedLines(state)].join('\n'),
    ],
    bodyCharactersMax,
  )
}
