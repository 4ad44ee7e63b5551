import type { ChangedFile, TaskState } from '../domain/index.ts'
import { joinBlocks } from '../effects/index.ts'
import { withheldWords, withoutSecrets } from '../telemetry/index.ts'
import { readAnswerParts } from './answer-parts.ts'
import { workerLimits } from './limits.ts'
import { checksLine, pushedCommit } from './render-ended.ts'
import { changedTests, ciBlock, holdsSpread, leftOut, modelBlock, said, taintBlock } from './render-pull-request.ts'
import { pageWords } from './run-links.ts'
import { costWords, type EndView, inCode, resumedLines, tookWords, verbWords } from './words-of-end.ts'

/** The message of a fix on a pull request: the commit, what it changed, what the checks say, and the model's words apart. */
export function renderResult({ state, end, now, bodyCharactersMax, links }: EndView): string {
  const proven = state.verdict?.verdict === 'proven'
  const spread = holdsSpread(state)
  const parts = readAnswerParts(spread ? '' : withoutSecrets(state.session?.ended?.text ?? ''))
  const branch = inCode(state.accepted?.pull?.headRef ?? '')
  const pushed = `pushed \`${pushedCommit(state)}\` to \`${branch}\``
  const figures = `${tookWords(state, now)}${costWords(state)}`
  return joinBlocks(
    [
      `${verbWords(state)} — ${proven ? `done in ${figures}: ${pushed}` : `${pushed} after ${figures}. No check proves it${end.code === undefined ? '' : ` (\`${end.code}\`)`}`}`,
      proven ? '' : (state.verdict?.reasons ?? []).join('; '),
      taintBlock(state, false),
      ciBlock(state.commit),
      ...(spread
        ? [withheldWords]
        : [
            [changedLine(state.change?.files ?? []), proven ? checksLine(state) : '', movedLine(state), ...resumedLines(state)]
              .filter(Boolean)
              .join('\n'),
          ]),
      said(state, parts, ['why', 'lookFirst', 'notTested']),
      ...(spread
        ? []
        : [
            changedTests(state.change?.files ?? []),
            leftOut(state.change),
            modelBlock(state, { ...parts, rest: [parts.title, parts.rest].filter(Boolean).join('\n\n') }),
          ]),
      pageWords(links),
    ],
    bodyCharactersMax,
  )
}

function changedLine(files: readonly ChangedFile[]): string {
  const shown = files.slice(0, workerLimits.sourcesNamedMax).map(({ path, added, removed }) => {
    const counts = added === null || removed === null ? 'binary' : `+${added} −${removed}`
    return `\`${inCode(path)}\` (${counts})`
  })
  const more = files.length - shown.length
  return `Changed: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

/** What was checked is what stands on the branch, and not what the session saw. */
function movedLine({ change }: TaskState): string {
  if (!change?.onto) return ''
  return `The branch had moved to \`${change.onto.sha.slice(0, 7)}\` meanwhile: the change was made again on it, and the checks ran there.`
}
