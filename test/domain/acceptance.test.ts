import { describe, expect, it } from 'vitest'
import {
  type CommandRow,
  commandTable,
  decideAcceptance,
  type Facts,
  findCommand,
  grantOf,
  type RefusalReason,
} from '../../domain/index.ts'
import { facts } from './facts.ts'

const pull = { isOpen: true, fork: false, headSha: 'b'.repeat(40), headRef: 'topic', baseRef: 'main', baseSha: 'a'.repeat(40) }
const failed = { taskId: 't_1', verb: 'fix', text: 'the parser' }
const bot = { id: 8, login: 'robot[bot]', kind: 'bot' as const }
const self = { id: 9, login: 'grokbot[bot]', kind: 'self' as const }
const decide = (word: string, change: Partial<Facts> = {}, prefix = '/grok') =>
  decideAcceptance({ index: 0, word, text: '' }, { ...facts, ...change }, { prefix, botRunsPerHourMax: 2 })

describe('a command is accepted', () => {
  it.each<[string, string, Partial<Facts>, string]>([
    ['from somebody who can write', 'fix', {}, 'fix'],
    ['from a maintainer', 'fix', { role: 'maintain' }, 'fix'],
    ['from an administrator', 'fix', { role: 'admin' }, 'fix'],
    ['in any case of letters', 'FIX', {}, 'fix'],
    ['by another of its names', 'stop', { subject: 'pull' }, 'cancel'],
    ['help, from a reader', 'help', { role: 'read' }, 'help'],
    ['from a bot that is allowed by its id', 'fix', { actor: bot, botAllowed: true }, 'fix'],
    ['help, while runs are switched off', 'help', { killSwitch: 'pulled' }, 'help'],
    ['cancel, while runs are switched off', 'cancel', { killSwitch: 'pulled' }, 'cancel'],
    ['help, in an empty repository', 'help', { baseSha: null }, 'help'],
    ['help, where people may not write', 'help', { locked: true, archived: true }, 'help'],
  ])('%s', (_, word, change, verb) => {
    expect(decide(word, change)).toEqual({ kind: 'accepted', row: commandTable.find(row => row.verb === verb), retries: null })
  })
})

it('a retry is the last failed command, accepted by the row of that command', () => {
  const row = commandTable.find(each => each.verb === 'fix')
  expect(decide('retry', { lastFailed: failed })).toEqual({ kind: 'accepted', row, retries: failed })
})

it('a question about a closed pull request is accepted', () => {
  expect(decide('ask', { subject: 'pull', pull: { ...pull, isOpen: false } })).toMatchObject({ kind: 'accepted' })
})

it('a bot that may start work is answered so many times an hour and no more', () => {
  const asked = (botRuns: number) => decide('fix', { actor: bot, botAllowed: true, botRuns }).kind
  expect([0, 1, 2, 3].map(asked)).toEqual(['accepted', 'accepted', 'ignored', 'ignored'])
})

it("a fork's code is nobody's whom we trust, whoever opened it", () => {
  const facts = { subject: 'pull', pull: { ...pull, fork: true }, operatorProfile: 'read-only' } as const
  expect(decide('fix', facts)).toMatchObject({ kind: 'refused', reason: 'no-profile' })
})

describe('nothing is said to', () => {
  it.each<[string, Partial<Facts>, string]>([
    ['our own comment', { actor: self }, 'own-comment'],
    ['our own comment, even when bots are allowed', { actor: self, botAllowed: true }, 'own-comment'],
    ['a foreign bot', { actor: bot }, 'bot'],
    ['a foreign bot that can administer', { actor: bot, role: 'admin' }, 'bot'],
    ['an owner that is not served', { ownerAllowed: false }, 'owner-not-allowed'],
    ['an allowed bot of an owner that is not served', { actor: bot, botAllowed: true, ownerAllowed: false }, 'owner-not-allowed'],
  ])('%s', (_, change, reason) => {
    // Whatever was asked: an unknown command would otherwise make two bots talk to each other for ever.
    for (const word of ['fix', 'help', 'nonsense']) expect(decide(word, change)).toEqual({ kind: 'ignored', reason })
  })
})

describe('a command is refused with a reason', () => {
  it.each<[string, string, Partial<Facts>, RefusalReason, string]>([
    [
      'that is none',
      'frobnicate',
      {},
      'unknown-command',
      '`/grok frobnicate` is not a command. Try `fix`, `ask`, `status`, `cancel`, `retry`, `help`.',
    ],
    ['without a word', '', {}, 'unknown-command', '`/grok …` is not a command. Try `fix`, `ask`, `status`, `cancel`, `retry`, `help`.'],
    [
      'that would break out of our words',
      '`@everyone\n# hi`',
      {},
      'unknown-command',
      '`/grok everyonehi` is not a command. Try `fix`, `ask`, `status`, `cancel`, `retry`, `help`.',
    ],
    [
      'that is very long',
      'x'.repeat(500),
      {},
      'unknown-command',
      `\`/grok ${'x'.repeat(40)}\` is not a command. Try \`fix\`, \`ask\`, \`status\`, \`cancel\`, \`retry\`, \`help\`.`,
    ],
    [
      'that is a property of every object',
      'constructor',
      {},
      'unknown-command',
      '`/grok constructor` is not a command. Try `fix`, `ask`, `status`, `cancel`, `retry`, `help`.',
    ],
    [
      'from nobody',
      'help',
      { role: 'none' },
      'role',
      '`/grok help` needs read access here; you have none. A maintainer can run it for you.',
    ],
    [
      'from a reader',
      'fix',
      { role: 'read' },
      'role',
      '`/grok fix` needs write access here; you have read. A maintainer can run it for you.',
    ],
    [
      'from somebody who triages',
      'fix',
      { role: 'triage' },
      'role',
      '`/grok fix` needs write access here; you have triage. A maintainer can run it for you.',
    ],
    [
      'from an allowed bot without the role',
      'fix',
      { actor: bot, botAllowed: true, role: 'read' },
      'role',
      '`/grok fix` needs write access here; you have read. A maintainer can run it for you.',
    ],
    [
      'on a closed pull request',
      'fix',
      { subject: 'pull', pull: { ...pull, isOpen: false } },
      'closed',
      'Not started: this pull request is closed.',
    ],
    [
      'to retry where nothing failed',
      'retry',
      {},
      'nothing-to-retry',
      'Not started: no run here has failed, so there is nothing to retry.',
    ],
    [
      'to retry from somebody who may not give the command itself',
      'retry',
      { role: 'triage', lastFailed: failed },
      'role',
      '`/grok retry` needs write access here; you have triage. A maintainer can run it for you.',
    ],
    ['in an archived repository', 'fix', { archived: true }, 'archived', 'Not started: this repository is archived.'],
    ['in a locked conversation', 'fix', { locked: true }, 'locked', 'Not started: this conversation is locked.'],
    ['while runs are switched off', 'fix', { killSwitch: 'pulled' }, 'switched-off', 'Not started: the operator has switched runs off.'],
    [
      'in an empty repository',
      'fix',
      { baseSha: null, defaultBranch: 'trunk' },
      'empty-repository',
      'Not started: there is nothing to check out, `trunk` has no commit yet.',
    ],
    [
      'for its role before anything else is told',
      'fix',
      { role: 'read', archived: true, killSwitch: 'pulled' },
      'role',
      '`/grok fix` needs write access here; you have read. A maintainer can run it for you.',
    ],
  ])('%s', (_, word, change, reason, words) => {
    expect(decide(word, change)).toEqual({ kind: 'refused', reason, words })
  })
  it('in the words of the operator’s prefix', () => {
    expect(decide('nonsense', {}, '/mend')).toMatchObject({
      words: '`/mend nonsense` is not a command. Try `fix`, `ask`, `status`, `cancel`, `retry`, `help`.',
    })
  })
})

describe('what runs for a command has a profile within the operator’s, and within strict for the text of a stranger', () => {
  const nowhere = (name: string) =>
    `Not started: this was written by somebody without write access, and no profile is within both \`strict\` and the operator's profile \`${name}\`.`
  const unknown = (name: string) => `Not started: the operator's profile \`${name}\` is none of this version.`
  it.each<[string | null, { ofWriter: string; ofStranger: string }]>([
    [null, { ofWriter: 'workspace', ofStranger: 'strict' }],
    ['off', { ofWriter: 'off', ofStranger: 'strict' }],
    ['devbox', { ofWriter: 'devbox', ofStranger: 'strict' }],
    ['workspace', { ofWriter: 'workspace', ofStranger: 'strict' }],
    ['strict', { ofWriter: 'strict', ofStranger: 'strict' }],
    ['read-only', { ofWriter: 'read-only', ofStranger: nowhere('read-only') }],
    ['review', { ofWriter: 'review', ofStranger: nowhere('review') }],
    ['workspace2', { ofWriter: unknown('workspace2'), ofStranger: nowhere('workspace2') }],
    ['constructor', { ofWriter: unknown('constructor'), ofStranger: nowhere('constructor') }],
  ])('%s', (operatorProfile, expected) => {
    const of = (subjectTrusted: boolean) => {
      const acceptance = decide('fix', { operatorProfile, subjectTrusted })
      if (acceptance.kind === 'refused') return `${acceptance.words}${acceptance.reason === 'no-profile' ? '' : acceptance.reason}`
      return grantOf(findCommand('fix') as CommandRow, { operatorProfile, trusted: subjectTrusted, delivery: 'github', fork: false })
        .profile
    }
    expect({ ofWriter: of(true), ofStranger: of(false) }).toEqual(expected)
  })
  it('help and cancel are taken whatever the profile is: they run nothing', () => {
    for (const word of ['help', 'cancel']) {
      const change = { operatorProfile: 'read-only', subjectTrusted: false }
      expect(decide(word, change)).toMatchObject({ kind: 'accepted' })
      const row = findCommand(word) as CommandRow
      expect(grantOf(row, { operatorProfile: 'read-only', trusted: false, delivery: 'github', fork: false }).profile).toBe('strict')
    }
  })
})

describe('the command table', () => {
  const words = commandTable.flatMap(row => [row.verb, ...row.aliases])
  it('has no word twice', () => {
    expect(new Set(words).size).toBe(words.length)
  })
  it.each(words)('finds %s', word => {
    expect(findCommand(word)?.verb).toBe(commandTable.find(row => [row.verb, ...row.aliases].some(name => name === word))?.verb)
  })
  it('is decided the same way each time, and changes no facts', () => {
    const frozen = Object.freeze({ ...facts })
    expect(decideAcceptance({ index: 0, word: 'fix', text: '' }, frozen, { prefix: '/grok', botRunsPerHourMax: 2 })).toEqual(decide('fix'))
  })
})

it('a fix on a fork’s pull request is granted nothing that pushes', () => {
  const of = (fork: boolean) =>
    grantOf(findCommand('fix') as CommandRow, { operatorProfile: null, trusted: true, delivery: 'github', fork }).effects
  expect(of(false).filter(kind => !of(true).includes(kind))).toEqual(['push', 'pull-request'])
})
