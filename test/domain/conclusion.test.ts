import { expect, test } from 'vitest'
import { checkRunNames, conclusionOf } from '../../domain/index.ts'
import { outcomes } from '../../domain/outcome.ts'
import { intentSchemas } from '../../effects/intents.ts'

test.each([
  ['succeeded', 'success', 'success'],
  ['failed', 'failure', 'neutral'],
  ['errored', 'failure', 'failure'],
  ['timed-out', 'timed_out', 'timed_out'],
  ['cancelled', 'cancelled', 'cancelled'],
  ['superseded', 'cancelled', 'cancelled'],
  ['refused', 'neutral', 'neutral'],
] as const)('%s is the conclusion %s, and %s where there was nothing to do', (outcome, conclusion, idle) => {
  expect([conclusionOf(outcome, { nothingToDo: false }), conclusionOf(outcome, { nothingToDo: true })]).toEqual([conclusion, idle])
})

test('every outcome has a row above', () => {
  expect(outcomes.length).toBe(7)
})

test('D08: the names of check runs are these, and no effect can have another', () => {
  expect(checkRunNames).toEqual(['grok / fix', 'grok / ask', 'grok / status', 'grok / cancel', 'grok / retry', 'grok / help'])
  const intent = {
    ...{ owner: 'octo', repo: 'demo', repositoryId: 1, installationId: 1, headSha: 'a'.repeat(40), externalId: 't_1', checkRunId: null },
    ...{ status: 'completed', conclusion: 'success', title: 'x', summary: 'y' },
  }
  const accepts = (name: string) => intentSchemas['check-run'].safeParse({ ...intent, name }).success
  expect([accepts('grok / fix'), accepts('ci/test'), accepts('grok / fix '), accepts('Grok / fix')]).toEqual([true, false, false, false])
})
