import { describe, expect, test } from 'vitest'
import { type EffectKind, type EffectState, emptyTaskState, type TaskState } from '../../domain/index.ts'
import type { TaskEnd } from '../../worker/decide-end.ts'
import { renderAnswer } from '../../worker/render-answer.ts'
import { renderEnded } from '../../worker/render-ended.ts'
import { renderRunning } from '../../worker/render-progress.ts'
import { renderResult } from '../../worker/render-result.ts'
import { renderSuggestions } from '../../worker/render-suggestions.ts'
import type { RunLinks } from '../../worker/run-links.ts'
import { accepted, payloads } from '../ledger/samples.ts'

/** Every text of a thread, whole, from a record that is made here. */

const sha = (digit: string) => digit.repeat(40)
const startedAt = Date.UTC(2026, 6, 1, 14, 3)
const [second, minute] = [1_000, 60_000]
const links: RunLinks = {
  page: 'https://grok.example/r/t_1?k=7',
  patch: 'https://grok.example/r/t_1/change.patch?k=7',
  bundle: 'https://grok.example/r/t_1/bundle.json?k=7',
}
const first = { attempt: 1, owner: 'worker-1', recovers: null, at: startedAt, quietMs: 0 }
const resumed = { attempt: 2, owner: 'worker-2', recovers: 1, at: startedAt + 3 * minute, quietMs: 830 }
const pull = { headSha: sha('9'), headRef: 'feature', baseRef: 'main', baseSha: sha('a'), fork: false }
const check = payloads['check.settled']
const passing = { ...check, cell: 'newCodeNewTests', name: 'npm test', counts: { passed: 212, failed: 0, skipped: 0 } } as const
const lint = { ...passing, name: 'npm run lint', counts: null }
const failing = { ...passing, exitCode: 1, counts: { passed: 210, failed: 2, skipped: 0 }, output: 'ok 1\nnot ok 2\n' } as const
const proven: TaskState['verdict'] = { verdict: 'proven', reasons: [] }
const unproven: TaskState['verdict'] = { verdict: 'unproven', reasons: ['there is no check'] }

function stateOf(change: Partial<TaskState> & { costMicroUsd?: number; text?: string; verb?: string } = {}): TaskState {
  const { costMicroUsd = 840_000, text = 'Empty input no longer crashes', verb = 'fix', ...more } = change
  const empty = emptyTaskState()
  const ended = { ...payloads['session.ended'], text }
  const state: TaskState = {
    ...empty,
    accepted: {
      ...accepted,
      command: { ...accepted.command, verb },
      actor: 'github:7',
      at: startedAt - 5 * second,
    } as TaskState['accepted'],
    attempts: [first],
    session: { started: payloads['session.started'], turns: [], openRequest: null, failures: [], ended },
    workspace: { ...payloads['workspace.opened'], baseSha: sha('a') },
    change: payloads['change.collected'],
    verdict: proven,
    checks: { ...empty.checks, newCodeNewTests: [passing, lint] },
    spent: { ...empty.spent, costMicroUsd },
  }
  return { ...state, ...more }
}

/** An effect that arrived. */
function done(kind: EffectKind, remote: Record<string, unknown>): Record<string, EffectState> {
  const at = { attempt: 1, preparedAt: startedAt, updatedAt: startedAt }
  return { [kind]: { kind, key: `${kind}-1`, state: 'confirmed', tries: 1, intent: {}, remote, reason: '', foundByReadBack: false, ...at } }
}

/** With a call of each of these tools, all of which went well. */
function called(...calls: { kind: 'read' | 'run'; input: object; exitCode?: number }[]): TaskState['session'] {
  const { session } = stateOf()
  const rows = calls.map(({ kind, input, exitCode = null }, index) => {
    const call = { id: `call_${index}`, name: kind, arguments: '{}' }
    const settled = { ...payloads['tool.settled'], callId: call.id, kind, readOnly: kind === 'read', meta: { name: kind, input }, exitCode }
    return { call, started: null, settled } as const
  })
  return session && { ...session, turns: [{ turn: 1, answer: payloads['model.answered'], calls: [...rows] }] }
}

const endOf = (outcome: TaskEnd['outcome'], reason = 'the checks pass', more: Partial<TaskEnd> = {}): TaskEnd => ({
  ...{ outcome, reason, summary: '' },
  ...more,
})
const view = (state: TaskState, end: TaskEnd, more: { ms?: number; links?: RunLinks | null } = {}) => ({
  ...{ taskId: 't_1', state, end, prefix: '/grok', bodyCharactersMax: 58_000 },
  ...{ now: startedAt + (more.ms ?? 6 * minute + 41 * second), links: more.links ?? null },
})

describe('running', () => {
  const session = called(
    { kind: 'read', input: { path: 'src/parser.ts' } },
    { kind: 'read', input: { path: 'src/lexer.ts' } },
    { kind: 'run', input: { command: 'npm test -- parser' }, exitCode: 1 },
  )
  const state = stateOf({ session, costMicroUsd: 310_000, checks: emptyTaskState().checks })
  if (state.accepted) state.accepted.limits = { ...accepted.limits, costMicroUsdMax: 2_000_000 }
  const running = (given: TaskState, more: object = {}) =>
    renderRunning({
      ...{ state: given, now: startedAt + 130 * second, doing: 'editing `src/parser.ts`', next: 'checks `npm test`, `npm run lint`' },
      ...{ prefix: '/grok', updateGapMs: 15_000, links: null, ...more },
    })

  test('says how long, for how much of what, what was done, is done and comes next', () => {
    expect(running(state, { links })).toBe(
      [
        '**grok fix** — running, 2 min 10 s of 20 min, $0.31 of $2.00',
        '',
        '- Done: read the issue and 2 files',
        '- Done: `npm test -- parser` exits 1',
        '- Now: editing `src/parser.ts`',
        '- Next: checks `npm test`, `npm run lint`',
        '',
        '[Run page](https://grok.example/r/t_1?k=7) · `/grok cancel` stops it',
        '<sub>as of 14:05 UTC, updated at most every 15 s</sub>',
      ].join('\n'),
    )
  })

  test('is at most twelve lines, one of them that it was resumed, however much was done', () => {
    const runs = Array.from({ length: 30 }, (_, index) => ({ kind: 'run' as const, input: { command: `step ${index}` }, exitCode: 0 }))
    const lines = running(stateOf({ session: called(...runs), attempts: [first, resumed] })).split('\n')
    expect(lines.length).toBeLessThanOrEqual(12)
    expect(lines.slice(-2)).toEqual([
      'Resumed on another worker at 14:06 UTC after 0.8 s; nothing was asked or posted twice.',
      '<sub>as of 14:05 UTC, updated at most every 15 s</sub>',
    ])
  })

  test('the same worker, started again, is not another one; and on a pull request that is what was read', () => {
    const again = { ...resumed, owner: 'worker-1' }
    const onPull = stateOf({ session, attempts: [first, again] })
    if (onPull.accepted?.subject) onPull.accepted.subject = { ...onPull.accepted.subject, kind: 'pull' }
    const text = running(onPull)
    expect(text).toContain('Resumed at 14:06 UTC after 0.8 s; nothing was asked or posted twice.')
    expect(text).toContain('- Done: read the pull request and 2 files')
  })

  test('what a tool was called with is neither a mention nor a link', () => {
    expect(running(stateOf(), { doing: 'running echo @maria fixes #3' })).toContain('- Now: running echo `@maria` fixes `#3`')
  })
})

describe('the last words', () => {
  const opened = done('pull-request', { number: 128 })
  test.each<[string, string, TaskState, TaskEnd, { ms?: number; links?: RunLinks | null }]>([
    [
      'done, with a pull request and pages',
      [
        '**grok fix** — done in 6 min 41 s, $0.84: #128',
        'Checks passed: `npm test` (212), `npm run lint`. [Run page](https://grok.example/r/t_1?k=7) · [receipts](https://grok.example/r/t_1/bundle.json?k=7)',
      ].join('\n\n'),
      stateOf({ effects: opened }),
      endOf('succeeded'),
      { links },
    ],
    [
      'done, resumed on the way, where nothing is known of a price',
      [
        '**grok fix** — done in 6 min 41 s: #128',
        'Checks passed: `npm test` (212), `npm run lint`.\nResumed on another worker at 14:06 UTC after 0.8 s; nothing was asked or posted twice.',
      ].join('\n\n'),
      stateOf({ effects: opened, attempts: [first, resumed], costMicroUsd: 0 }),
      endOf('succeeded'),
      {},
    ],
    [
      'failed, with what still fails, what is kept and how to go on',
      [
        '**grok fix** — failed after 4 min 2 s, $0.52. Nothing was pushed.',
        'After the change 2 of 212 tests still fail (`npm test`).\nNo check proves the change',
        [
          "- Kept: [the change as a patch](https://grok.example/r/t_1/change.patch?k=7); apply it with `curl -fsSL 'https://grok.example/r/t_1/change.patch?k=7' | git apply --index`",
          '- Go on: `/grok retry` starts it again from the beginning',
          '- Or say more: `/grok fix <what>`',
        ].join('\n'),
        '<details><summary>Failing test output (2 lines)</summary>',
        '```\nok 1\nnot ok 2\n```',
        '</details>',
      ].join('\n\n'),
      stateOf({ costMicroUsd: 520_000, verdict: unproven, checks: { ...emptyTaskState().checks, newCodeNewTests: [failing] } }),
      endOf('failed', 'no check proves the change'),
      { ms: 242 * second, links },
    ],
    [
      'errored, which is our fault, with nothing to keep',
      [
        '**grok fix** — failed, our fault, after 1 min. Nothing was pushed.',
        'The model gave no answer: 503',
        '- Go on: `/grok retry` starts it again from the beginning\n- Or say more: `/grok fix <what>`',
      ].join('\n\n'),
      stateOf({ costMicroUsd: 0, change: null, verdict: null, checks: emptyTaskState().checks }),
      endOf('errored', 'the model gave no answer: 503'),
      { ms: minute },
    ],
    [
      'out of time, with a branch that was left',
      [
        '**grok fix** — out of time after 20 min. The branch `grok/fix-12` was pushed; there is no pull request.',
        'The time was up',
        [
          '- Kept: the change as a patch, in the record of this run: `grokbot runs show t_1`; apply it with `git apply --index`',
          '- Go on: `/grok retry` starts it again from the beginning',
          '- Or say more: `/grok fix <what>`',
        ].join('\n'),
      ].join('\n\n'),
      stateOf({ costMicroUsd: 0, effects: done('push', { branch: 'grok/fix-12', sha: sha('1') }) }),
      endOf('timed-out', 'the time was up'),
      { ms: 20 * minute },
    ],
    [
      'errored with a code, and with what the catalogue knows to do then',
      [
        '**grok ask** — failed, our fault, after 10 min.',
        'The endpoint did not answer for 10 min (6 tries) (`model-silent`)',
        '- Go on: `/grok retry` when it is there again; `grokbot doctor` tries it',
      ].join('\n\n'),
      stateOf({ verb: 'ask', costMicroUsd: 0, change: null, verdict: null, checks: emptyTaskState().checks }),
      endOf('errored', 'the endpoint did not answer for 10 min (6 tries)', { code: 'model-silent' }),
      { ms: 10 * minute },
    ],
    [
      'failed with a code, where to say more is said with the verb that was asked for',
      [
        '**grok ask** — failed after 14 s.',
        'The model ended without an answer (`no-answer`)',
        '- Go on: `/grok retry` starts it again from the beginning\n- Or say more: `/grok ask <what>`',
      ].join('\n\n'),
      stateOf({ verb: 'ask', costMicroUsd: 0, change: null, verdict: null, checks: emptyTaskState().checks }),
      endOf('failed', 'the model ended without an answer', { code: 'no-answer' }),
      { ms: 14 * second },
    ],
    [
      'ended by the kill switch, which a retry does not help',
      [
        '**grok fix** — the operator switched runs off (`switched-off-meanwhile`) after 1 min. Nothing was pushed.',
        '- Go on: once the operator has cleared the switch (`grokbot switch clear`): `/grok retry`',
      ].join('\n\n'),
      stateOf({ costMicroUsd: 0, change: null }),
      endOf('cancelled', 'the operator switched runs off', { code: 'switched-off-meanwhile' }),
      { ms: minute },
    ],
    [
      'cancelled by a person, which is no problem to look up',
      '**grok fix** — cancelled by `@mona` after 1 min. Nothing was pushed.',
      stateOf({ costMicroUsd: 0, change: null }),
      endOf('cancelled', 'cancelled by @mona', { code: 'cancelled' }),
      { ms: minute },
    ],
    [
      'a patch instead, with the code of the rung behind what GitHub said',
      [
        '**grok fix** — done, delivered as a patch. $0.61',
        'The change is ready and its checks pass, but I may not push here (GitHub said: "without `workflows` permission") (`push-workflows`).',
        "Apply it: `curl -fsSL 'https://grok.example/r/t_1/change.patch?k=7' | git apply --index`",
      ].join('\n\n'),
      stateOf({ costMicroUsd: 610_000 }),
      endOf('failed', 'not delivered', {
        code: 'push-workflows',
        patchOnly: 'I may not push here (GitHub said: "without `workflows` permission")',
      }),
      { links },
    ],
    [
      'cancelled',
      '**grok fix** — cancelled by `@mona` after 1 min 3 s, $0.12. Nothing was pushed. [Patch so far](https://grok.example/r/t_1/change.patch?k=7).',
      stateOf({ costMicroUsd: 120_000 }),
      endOf('cancelled', 'cancelled by @mona'),
      { ms: 63 * second, links },
    ],
    [
      'superseded',
      '**grok fix** — replaced by a newer fix of `9f8e7d6`.',
      stateOf({ change: null }),
      endOf('superseded', 'replaced by a newer fix of `9f8e7d6`'),
      {},
    ],
    [
      'a patch instead, and why',
      [
        '**grok fix** — done, delivered as a patch. $0.61',
        'The change is ready and its checks pass, but I may not push here (GitHub said: "without `workflows` permission").',
        "Apply it: `curl -fsSL 'https://grok.example/r/t_1/change.patch?k=7' | git apply --index`",
      ].join('\n\n'),
      stateOf({ costMicroUsd: 610_000 }),
      endOf('failed', 'not delivered', { patchOnly: 'I may not push here (GitHub said: "without `workflows` permission")' }),
      { links },
    ],
    [
      'a patch that no check proves, without pages',
      [
        '**grok fix** — done, delivered as a patch',
        'The change is ready, but the pull request is closed.',
        'No check proves it: there is no check.',
        'Apply it: `git apply --index` with the patch from the record of this run: `grokbot runs show t_1`',
      ].join('\n\n'),
      stateOf({ costMicroUsd: 0, verdict: unproven }),
      endOf('failed', 'not delivered', { patchOnly: 'the pull request is closed' }),
      {},
    ],
    [
      'of a question, which pushes nothing and says nothing of it',
      [
        '**grok ask** — failed after 14 s, $0.03.',
        'The model ended without an answer',
        '- Go on: `/grok retry` starts it again from the beginning\n- Or say more: `/grok ask <what>`',
      ].join('\n\n'),
      stateOf({ verb: 'ask', costMicroUsd: 30_000, change: null, verdict: null, checks: emptyTaskState().checks }),
      endOf('failed', 'the model ended without an answer'),
      { ms: 14 * second },
    ],
  ])('%s', (_, text, state, end, more) => {
    expect(renderEnded(view(state, end, more))).toBe(text)
  })
})

describe('results', () => {
  const onPull = (change: Parameters<typeof stateOf>[0] = {}) => {
    const state = stateOf({ effects: done('push', { branch: 'feature', sha: `d4e5f6a${sha('1').slice(7)}` }), ...change })
    if (state.accepted) state.accepted.pull = pull
    return state
  }

  test('a commit on a pull request that no check proves does not say done', () => {
    const state = onPull({ verdict: unproven, checks: emptyTaskState().checks, text: '' })
    expect(renderResult(view(state, endOf('failed')))).toBe(
      [
        '**grok fix** — pushed `d4e5f6a` to `feature` after 6 min 41 s, $0.84. No check proves it',
        'there is no check',
        'Changed: `p\\xffger.js` (+1 −1).',
        '**Left out**: `log.txt` (made by a command)',
      ].join('\n\n'),
    )
  })

  test('a commit that was made with a stranger’s words in the conversation says so, and shows where links lead', () => {
    const taint = [{ source: 'thread', detail: 'a comment of @lena' }]
    const text = renderResult(view(onPull({ taint, text: 'Mended\n\nSee [this](https://elsewhere.example/x).' }), endOf('succeeded')))
    expect(text.split('\n\n').slice(0, 3)).toEqual([
      '**grok fix** — done in 6 min 41 s, $0.84: pushed `d4e5f6a` to `feature`',
      expect.stringContaining('@lena'),
      'Changed: `p\\xffger.js` (+1 −1).\nChecks passed: `npm test` (212), `npm run lint`.',
    ])
    expect(text).toContain('elsewhere.example/x')
    expect(text).not.toContain('[this](')
  })

  test('suggestions are one thing that was checked as a whole', () => {
    expect(renderSuggestions(view(onPull({ effects: {}, text: '' }), endOf('succeeded')), 2)).toBe(
      [
        '**grok fix** — done in 6 min 41 s, $0.84: 2 suggestions',
        'Take them together: what was checked is all of them.\nChecks passed: `npm test` (212), `npm run lint`.',
      ].join('\n\n'),
    )
  })

  test('an answer: our line, the model’s words quoted, what was read', () => {
    const session = called(
      { kind: 'read', input: { path: 'src/limits.ts', offset: 41, limit: 1 } },
      { kind: 'read', input: { path: 'src/queue.ts', offset: 80, limit: 13 } },
    )
    const state = stateOf({ verb: 'ask', session, costMicroUsd: 30_000 })
    const end = endOf('succeeded', 'answered', { summary: 'It is capped by `limits.ts:41`. Thanks, @maria.' })
    expect(renderAnswer(view(state, end, { ms: 14 * second }))).toBe(
      [
        '**grok ask** — 14 s, $0.03, read 2 files at `aaaaaaa`',
        '> It is capped by `limits.ts:41`. Thanks, `@maria`.',
        'Sources: `src/limits.ts:41`, `src/queue.ts:80-92`.',
      ].join('\n\n'),
    )
  })
})
