import type { Payload } from './event.ts'
import { resultWords } from './result-words.ts'
import type { TaskState } from './task-state.ts'

/** One line of what the checks proved. `check` null: a line of `words` about the check above it. */
export type EvidenceRow = { check: string | null; words: string; before: string; after: string }

type Check = Payload<'check.settled'>

/** Each check before and after; where the change has other tests than the base, also what those two say of each other. */
export function evidenceRows({ checks }: Pick<TaskState, 'checks'>): EvidenceRow[] {
  const names = [...new Set([...checks.newCodeNewTests, ...checks.baseCodeBaseTests].map(check => check.name))]
  return names.flatMap(name => {
    const find = (results: readonly Check[]) => results.find(check => check.name === name)
    const [before, after] = [find(checks.baseCodeBaseTests), find(checks.newCodeNewTests)]
    const [baseTests, newTests] = [find(checks.newCodeBaseTests), find(checks.baseCodeNewTests)]
    const words = after?.source === 'detected' ? 'detected' : ''
    const row = { check: name, words, before: resultWords(before), after: resultWords(after) }
    const changed = baseTests && after && baseTests.tree !== after.tree
    if (!changed) return [row]
    const missed = `${resultWords(newTests)}${isMissed(newTests) ? ', as they should' : ''}`
    return [
      row,
      { check: null, words: "the base's tests on the new code", before: '–', after: resultWords(baseTests) },
      { check: null, words: 'the new tests on the old code', before: missed, after: '–' },
    ]
  })
}

/** Tests that notice when the change is not there. */
function isMissed(check: Check | undefined): boolean {
  return check !== undefined && check.killedBy === null && (check.counts?.failed ?? 0) > 0
}
