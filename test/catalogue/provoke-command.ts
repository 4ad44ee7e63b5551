import { renderPlay } from '../../cli/simulate/print-play.ts'
import { refusalOfPlace } from '../../domain/acceptance.ts'
import type { commandProblems } from '../../domain/catalogue/command.ts'
import { dayBudgets } from '../../domain/day-budgets.ts'
import { type Acceptance, decideAcceptance, type Facts, overBudgetWords } from '../../domain/index.ts'
import { openSqliteLedger } from '../../ledger/index.ts'
import { facts } from '../domain/facts.ts'
import { startedAt, taskOf } from '../ledger/samples.ts'
import type { Provocations, Provoked } from './provocation.ts'

const sha = 'a'.repeat(40)
const pull = { isOpen: true, fork: false, headSha: sha, headRef: 'topic', baseRef: 'main', baseSha: sha }
const robot = { id: 8, login: 'robot[bot]', kind: 'bot' } as const

function decided(word: string, change: Partial<Facts> = {}): Provoked {
  const command = { index: 0, word, text: '' }
  return said(decideAcceptance(command, { ...facts, ...change }, { prefix: '/grok', botRunsPerHourMax: 2 }))
}

/** As a simulated delivery shows it: the comment of a refusal is its sentence alone. */
function said(acceptance: Acceptance | null): Provoked {
  if (acceptance === null || acceptance.kind === 'accepted') return { code: undefined, words: '' }
  const play = { acceptance, effects: [], outcome: null, reason: null, code: null, taskId: null, more: [] }
  return { code: acceptance.reason, words: renderPlay(play) }
}

export const commandProvocations: Provocations<keyof typeof commandProblems> = {
  'unknown-command': () => decided('deploy'),
  role: () => decided('fix', { role: 'read' }),
  // No command of today is for one place only.
  'wrong-place': () => said(refusalOfPlace({ where: ['pull'] }, '`/grok review`', facts)),
  'nothing-to-retry': () => decided('retry'),
  archived: () => decided('fix', { archived: true }),
  locked: () => decided('fix', { locked: true }),
  closed: () => decided('fix', { subject: 'pull', pull: { ...pull, isOpen: false } }),
  'empty-repository': () => decided('fix', { baseSha: null }),
  'switched-off': () => decided('fix', { killSwitch: 'pulled' }),
  budget: async ({ folder }) => {
    const limits = { repositoryDayMicroUsd: 1, actorDayMicroUsd: null }
    const budgets = dayBudgets({ repositoryId: 42, actorId: 7, at: startedAt, reserveMicroUsd: 2, limits })
    const ledger = openSqliteLedger({ dataDir: `${folder}/budget`, durability: 'process', clock: () => startedAt })
    const answer = await ledger.acceptTask(taskOf('T1', { budgets: budgets.budgets }))
    await ledger.close()
    if (answer.kind !== 'over-budget') return { code: undefined, words: '' }
    return said({ kind: 'refused', reason: 'budget', words: `Not started: ${overBudgetWords(budgets, answer)}.` })
  },
  'no-profile': () => decided('fix', { subjectTrusted: false, operatorProfile: 'read-only' }),
  'own-comment': () => decided('fix', { actor: { id: 9, login: 'grokbot[bot]', kind: 'self' } }),
  bot: () => decided('fix', { actor: robot }),
  'bot-loop': () => decided('fix', { actor: robot, botAllowed: true, botRuns: 2 }),
  'owner-not-allowed': () => decided('fix', { ownerAllowed: false }),
}
