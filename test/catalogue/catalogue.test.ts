import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { renderList, renderProblem } from '../../cli/explain.ts'
import { catalogue, type NewEvent, type ProblemCode, problemCodes } from '../../domain/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { endTask } from '../../worker/end-task.ts'
import type { Place, Provocations } from './provocation.ts'
import { commandProvocations } from './provoke-command.ts'
import { deliveryProvocations } from './provoke-delivery.ts'
import { runProvocations } from './provoke-run.ts'
import { startProvocations } from './provoke-start.ts'
import { stateOf, taskId, taskOf } from './task-of.ts'

/** A code that nothing provokes does not compile. */
const provocations: Provocations<ProblemCode> = {
  ...startProvocations,
  ...commandProvocations,
  ...runProvocations,
  ...deliveryProvocations,
}

const root = path.resolve(import.meta.dirname, '../..')

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-catalogue-'))
  chmodSync(folder, 0o711)
  return folder
}

const removeFolder = (folder: string) => rmSync(folder, { recursive: true, force: true })

const shared = makeFolder()
afterAll(() => removeFolder(shared))

function openPlace(): Place {
  const folder = makeFolder()
  onTestFinished(() => removeFolder(folder))
  return { folder, shared }
}

/** How often the words mark that code: as a terminal does, as a comment does, or as all there is of a silence. */
function marksOf(code: string, words: string): number {
  const marks = [`[${code}]`, `(\`${code}\`)`].map(mark => words.split(mark).length - 1)
  return words === `ignored: ${code}` ? 1 : marks.reduce((sum, count) => sum + count)
}

describe('what goes wrong is told with its code', () => {
  test.each(problemCodes)('%s', { timeout: 60_000 }, async code => {
    const provoked = await provocations[code](openPlace())
    expect([provoked.code, marksOf(code, provoked.words)], provoked.words).toEqual([code, 1])
  })
})

test('the catalogue is said in few words, of one form', () => {
  const faults = problemCodes.flatMap(code => {
    const { what, why, next } = catalogue[code]
    return [
      ...(/^[a-z]+(-[a-z]+)*$/.test(code) ? [] : ['its code is no kebab-case']),
      ...(what.length <= 110 && /^[^\n]*\.$/.test(what) ? [] : [`what: ${what.length}`]),
      ...(why.length <= 160 && /^[^\n]*\.$/.test(why) ? [] : [`why: ${why.length}`]),
      ...next.filter(text => text.length > 130 || !/^[a-z`][^\n]*[^.\n]$/.test(text)).map(text => `next: ${text.length} ${text}`),
    ].map(fault => `${code}: ${fault}`)
  })
  expect(faults).toEqual([])
})

test('each code is given somewhere in the source', () => {
  const files = ['agent', 'app', 'cli', 'domain', 'worker']
    .flatMap(folder => readdirSync(path.join(root, folder), { recursive: true }).map(name => path.join(folder, String(name))))
    .filter(name => name.endsWith('.ts') && !name.startsWith('domain/catalogue/'))
  const source = files.map(name => readFileSync(path.join(root, name), 'utf8')).join('\n')
  expect(problemCodes.filter(code => !source.includes(`'${code}'`))).toEqual([])
})

test('an end is recorded and logged with its code', async () => {
  const { folder } = openPlace()
  const [lines, events] = [[] as object[], [] as NewEvent[]]
  const logger = { ...silentLogger, info: (fields: object, text: string) => void lines.push({ ...fields, text }) }
  const task = taskOf(stateOf(), { ports: { logger }, taskDir: path.join(folder, 'tasks', taskId) })
  const log = { ...task.log, record: async (...more: NewEvent[]) => void events.push(...more) }
  const end = { outcome: 'timed-out', code: 'time-up', reason: 'the time was up', summary: '' } as const
  await endTask({ ...task, log }, end)
  expect(lines).toEqual([{ task: taskId, outcome: 'timed-out', code: 'time-up', text: 'task ended' }])
  expect(events).toEqual([{ type: 'task.ended', commandId: `${taskId}:ended`, payload: end }])
})

test('grokbot explain prints a row without marks of code, and all of them by area', () => {
  expect(renderProblem('ledger-missing')).toBe(
    [
      'code ledger-missing  (start)',
      'what There is no ledger in the data folder.',
      'why  Nothing was ever run with this data folder, or it is another one than the one that was used.',
      'next name the data folder: --data DIR, or set GROKBOT_DATA',
    ].join('\n'),
  )
  const lines = renderList().split('\n')
  expect(lines.filter(line => /^\S/.test(line))).toEqual(['start', 'command', 'run', 'delivery'])
  expect(lines.flatMap(line => /^ {2}(\S+) {2,}\S/.exec(line)?.[1] ?? [])).toEqual(problemCodes)
})

test('each code has its heading in docs/errors.md', () => {
  const headings = readFileSync(path.join(root, 'docs/errors.md'), 'utf8').match(/^### .*$/gm)
  expect(headings).toEqual(problemCodes.map(code => `### ${code}`))
})

/** Stable for ever: a code is added here and never renamed. */
const known = `
  access-gone address-unknown answer-not-posted answer-unknown app-key-invalid app-not-configured archived archived-meanwhile attempts-died bot
  bot-loop branch-gone broken budget cancelled checks-broken checks-fail checks-missing closed closed-meanwhile command-line
  command-missing command-unreadable comment-only commit-gone commit-nameless commit-unknown cost-used data-folder-closed
  data-folder-unusable delivery-unknown empty-repository environment-invalid fetch-failed file-exists file-missing file-too-large
  file-unreadable file-unwritable folder-missing fork-meanwhile fork-moved fork-patch-only git-missing github-away head-rewritten
  issue-empty keys-over-http keys-unreachable ledger-missing locked locked-meanwhile merge-queue model-broken model-credit model-key
  model-limiting model-missing model-price-unset model-refused model-script-invalid model-silent model-too-long model-unset
  moved-again newer-conflict newer-has-it newer-protected no-answer no-change no-profile nothing-delivered nothing-left
  nothing-to-do nothing-to-retry one-command operator-file-invalid operator-file-missing option-value options-clash own-comment
  owner-not-allowed owners-empty owners-unset payload-invalid place-gone port-forbidden port-in-use profile-narrowed profile-unknown
  public-key-missing pull-request-refused push-denied push-moved push-not-granted push-protected push-refused push-unsigned
  push-workflows redis-server-missing redis-unset repeating repository-empty repository-missing repository-unusable role
  sandbox-exec-refused sandbox-refused server-unreachable session-lost session-stopped setup-failed signing-key-invalid
  suggestions-not-possible suggestions-refused superseded switched-off switched-off-meanwhile task-broken task-busy task-erased
  task-open task-unknown tenants-one-user tenants-profile thread-closed thread-gone time-up tokens-used tree-refused turns-used
  unknown-code unknown-command unproven webhook-secret-unset worker-holds-secrets wrong-place
`

test('no code was renamed or taken away', () => {
  expect([...problemCodes].sort()).toEqual(known.trim().split(/\s+/).sort())
})
