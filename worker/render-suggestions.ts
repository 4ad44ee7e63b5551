import type { Suggestion } from '../domain/index.ts'
import { joinBlocks } from '../effects/index.ts'
import { withheldWords, withoutSecrets } from '../telemetry/index.ts'
import { readAnswerParts } from './answer-parts.ts'
import { checksLine } from './render-ended.ts'
import { holdsSpread, modelBlock, taintBlock } from './render-pull-request.ts'
import { costWords, type EndView, resumedLines, tookWords, verbWords } from './words-of-end.ts'

/** The text of the review around the suggestions. What was checked is all of them together. */
export function renderSuggestions({ state, now, bodyCharactersMax }: EndView, count: number): string {
  const proven = state.verdict?.verdict === 'proven'
  const spread = holdsSpread(state)
  const { title, rest } = readAnswerParts(spread ? '' : withoutSecrets(state.session?.ended?.text ?? ''))
  const places = `${count} ${count === 1 ? 'suggestion' : 'suggestions'}`
  return joinBlocks(
    [
      `${verbWords(state)} — done in ${tookWords(state, now)}${costWords(state)}: ${places}${proven ? '' : '. No check proves them'}`,
      proven ? '' : (state.verdict?.reasons ?? []).join('; '),
      taintBlock(state, false),
      [count === 1 ? '' : 'Take them together: what was checked is all of them.', proven ? checksLine(state) : '', ...resumedLines(state)]
        .filter(Boolean)
        .join('\n'),
      spread ? withheldWords : modelBlock(state, { rest: [title, rest].filter(Boolean).join('\n\n') }),
    ],
    bodyCharactersMax,
  )
}

/** Exactly the lines, in a fence that none of them can close. */
export function renderSuggestion({ text }: Suggestion): string {
  const longest = Math.max(2, ...text.flatMap(line => [...line.matchAll(/`+/g)].map(([ticks]) => ticks.length)))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}suggestion`, ...text, fence].join('\n')
}
