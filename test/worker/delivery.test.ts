import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskState } from '../../domain/index.ts'
import { type Delivery, openDelivery } from './open-delivery.ts'
import { openWorker, type WorkerStage } from './open-worker.ts'

let stage: WorkerStage
beforeAll(async () => {
  stage = await openWorker()
})
afterAll(() => stage.close())
const timeout = 60_000

const pushes = (state: TaskState) => Object.values(state.effects).flatMap(({ kind, state: phase }) => (kind === 'push' ? [phase] : []))
const github = () => stage.simulator.github
const patchText = (state: TaskState, taskId: string) =>
  `**grok fix** — done, delivered as a patch\n\nThe change is ready and its checks pass, but ${state.outcome?.patchOnly} (\`${state.outcome?.code}\`).\n\nApply it: \`git apply --index\` with the patch from the record of this run: \`grokbot runs show ${taskId}\``

describe('what is not pushed to', () => {
  const rows: [title: string, why: string | RegExp, meanwhile: (delivery: Delivery) => Promise<unknown>][] = [
    [
      'a pull request that was closed meanwhile',
      'this pull request was closed meanwhile',
      async ({ repo, number }) => github().setIssueState({ repo, number, state: 'closed' }),
    ],
    [
      'a pull request that was merged meanwhile',
      'this pull request was merged meanwhile',
      ({ repo, number }) => github().mergePull({ repo, number }),
    ],
    [
      'Q52: a pull request in the merge queue',
      'this pull request is in the merge queue, and a push would take it out',
      async ({ repo, number }) => github().setMergeQueue({ repo, number, entry: {} }),
    ],
    [
      'Q52: the same where GraphQL does not say so, by the branches of the queue',
      'this pull request is in the merge queue, and a push would take it out',
      async ({ number, head, git }) => {
        github().fail({ method: 'POST', path: /graphql$/, fault: { kind: 'status', status: 403 } })
        await git('update-ref', `refs/heads/gh-readonly-queue/main/pr-${number}-${head}`, head)
      },
    ],
    [
      'Q42: a head with newer commits in the same places',
      /^newer commits \(`[0-9a-f]{7}`\) changed the same places in `add\.sh`$/,
      ({ repo }) => github().commit({ repo, branch: 'feature', files: { 'add.sh': 'expr $1 - $2\n' }, author: 'mona' }),
    ],
    [
      'a head whose newer commits have all of it already',
      /^newer commits \(`[0-9a-f]{7}`\) have all of it already$/,
      ({ repo }) => github().commit({ repo, branch: 'feature', files: { 'add.sh': 'echo $(($1 + $2))\n' }, author: 'mona' }),
    ],
    [
      'a head whose newer commits lead a protected name to what is changed',
      'on newer commits it would change `add.sh`, which decides who must review',
      ({ repo }) =>
        github().commit({ repo, branch: 'feature', files: { CODEOWNERS: { content: 'add.sh', mode: '120000' } }, author: 'mona' }),
    ],
  ]
  test.each(rows)('%s', { timeout }, async (_, why, meanwhile) => {
    const delivery = await openDelivery(stage)
    const state = await delivery.end(() => meanwhile(delivery))
    expect([state.outcome?.outcome, state.outcome?.patchOnly]).toEqual([
      'failed',
      typeof why === 'string' ? why : expect.stringMatching(why),
    ])
    expect(pushes(state)).toEqual([])
    expect(delivery.ours()).toEqual([patchText(state, delivery.taskId)])
  })

  test('Q70: a locked conversation, in which nothing can be said either', { timeout }, async () => {
    const delivery = await openDelivery(stage)
    const state = await delivery.end(async () => github().lock(delivery.repo, delivery.number))
    expect([state.outcome?.patchOnly, pushes(state), delivery.ours()]).toEqual(['this conversation was locked meanwhile', [], []])
    expect(Object.values(state.effects).map(({ kind, state: phase }) => `${kind} ${phase}`)).toEqual(['comment rejected'])
  })

  test('a branch on which a check fails with the change', { timeout }, async () => {
    const delivery = await openDelivery(stage, { failing: true })
    const state = await delivery.end()
    expect([state.outcome?.outcome, state.outcome?.patchOnly, pushes(state)]).toEqual(['failed', undefined, []])
    expect(delivery.ours().map(body => body.replace(/after \d+ s/, 'after TIME'))).toEqual([
      [
        '**grok fix** — failed after TIME. Nothing was pushed.',
        "After the change `sh check.sh` still fails, exit 1.\nIt could not be delivered: `sh check.sh` fails with it, and I push nothing broken onto somebody's branch (`checks-broken`)",
        `- Kept: the change as a patch, in the record of this run: \`grokbot runs show ${delivery.taskId}\`; apply it with \`git apply --index\`\n- Go on: \`/grok retry\` starts it again from the beginning\n- Or say more: \`/grok fix <what>\``,
        '<details><summary>Failing test output (1 line)</summary>',
        '```\nnot 3\n```',
        '</details>',
      ].join('\n\n'),
    ])
  })

  const refusals: [reason: 'workflows' | 'rules' | 'secret' | 'protected' | 'large-file', why: RegExp, message?: string][] = [
    [
      'workflows',
      /^I may not push here: this repository refuses changes to `\.github\/workflows` from Apps \(GitHub said: "refusing to allow a GitHub App to create or update workflow `\.github\/workflows\/ci\.yml` without `workflows` permission"\)$/,
    ],
    [
      'rules',
      /^I may not push here: the rules of this repository refuse it \(GitHub said: "GH013: Repository rule violations found for refs\/heads\/feature\. .*- Changes must be made through a pull request\."\)$/,
      'Changes must be made through a pull request.',
    ],
    [
      'secret',
      /^I may not push here: the rules of this repository refuse it \(GitHub said: "GH013: Repository rule violations found for refs\/heads\/feature\. .*Push cannot contain secrets.*"\)$/,
    ],
    [
      'protected',
      /^I may not push here: the rules of this repository refuse it \(GitHub said: "GH006: Protected branch update failed for refs\/heads\/feature\. - Changes must be made through a pull request\."\)$/,
    ],
    ['large-file', /^I may not push here: the push was refused \(GitHub said: ".*GH001: Large files detected\..*"\)$/],
  ]
  test.each(refusals)('Q51: a branch that refuses for %s, which is said word for word', { timeout }, async (reason, why, message) => {
    const delivery = await openDelivery(stage)
    github().fail({ route: 'git push', fault: { kind: 'decline', reason, ...(message ? { message } : {}) } })
    const state = await delivery.end()
    expect([state.outcome?.outcome, state.outcome?.patchOnly, pushes(state)]).toEqual(['failed', expect.stringMatching(why), ['rejected']])
    expect(delivery.ours()).toEqual([patchText(state, delivery.taskId)])
    expect((await delivery.refs())['refs/heads/feature']).toBe(delivery.head)
  })

  test('an issue whose requester has lost the role it takes', { timeout }, async () => {
    const delivery = await openDelivery(stage, { issue: true })
    const state = await delivery.end(async () => github().setPermission(delivery.repo, 'mona', 'read'))
    expect([state.outcome?.code, state.outcome?.patchOnly, pushes(state)]).toEqual([
      'access-gone',
      '@mona has no write access any more',
      [],
    ])
    expect(Object.keys(await delivery.refs()).filter(ref => ref.startsWith('refs/heads/grok'))).toEqual([])
  })

  test('an issue that was locked meanwhile', { timeout }, async () => {
    const locked = await openDelivery(stage, { issue: true })
    const state = await locked.end(async () => github().lock(locked.repo, locked.number))
    expect([state.outcome?.patchOnly, pushes(state)]).toEqual(['this conversation was locked meanwhile', []])
  })

  test('an archived repository', { timeout }, async () => {
    const delivery = await openDelivery(stage)
    const state = await delivery.end(async () => github().archive(delivery.repo))
    expect([state.outcome?.patchOnly, pushes(state)]).toEqual(['this repository was archived meanwhile', []])
  })
})

describe('a push', () => {
  test('Q87, Q94: whose answer is lost is found by its branch, also when somebody has pushed on top of it', { timeout }, async () => {
    const delivery = await openDelivery(stage)
    const lost = github().fail({ route: 'git push', fault: { kind: 'cut', when: 'after' } })
    let theirs = ''
    const onTop = (async () => {
      for (const until = Date.now() + 30_000; lost.hits() === 0 && Date.now() < until; ) await sleep(5)
      for (const until = Date.now() + 30_000; (await delivery.refs())['refs/heads/feature'] === delivery.head && Date.now() < until; )
        await sleep(5)
      theirs = await github().commit({ repo: delivery.repo, branch: 'feature', files: { 'later.txt': '1\n' }, author: 'mona' })
    })()
    const state = await delivery.end()
    await onTop
    expect(pushes(state)).toEqual(['confirmed'])
    expect(state.outcome?.outcome).toBe('succeeded')
    expect(await delivery.git('log', '--format=%H', '-2', 'feature')).toBe(`${theirs}\n${state.commit?.sha}`)
  })

  test('Q26: goes where the head was accepted to be, whatever its branch is called', { timeout }, async () => {
    const delivery = await openDelivery(stage)
    const state = await delivery.end()
    expect([pushes(state), (await delivery.refs())['refs/heads/feature']]).toEqual([['confirmed'], state.commit?.sha])
    expect(await delivery.git('rev-parse', 'feature^')).toBe(delivery.head)
  })
})

describe('a fork', () => {
  const wrong = { 'add.sh': '# adds\necho $(($1 * $2))\n' }
  const right = { 'add.sh': '# adds\n# two numbers\necho $(($1 + $2))\n' }
  const reviews = (repo: string) => [...(github().state.repositories.get(repo)?.reviews.values() ?? [])]

  test('whose own lines are not what is changed gets the patch, and its code becomes no branch', { timeout }, async () => {
    const delivery = await openDelivery(stage, { fork: 'ravi' })
    const state = await delivery.end()
    const why = 'its head lies in a fork, where I never push, and the change is more than suggestions on its own lines can say'
    expect([state.outcome?.outcome, state.outcome?.patchOnly]).toEqual(['failed', why])
    expect(delivery.ours()).toEqual([patchText(state, delivery.taskId)])
    expect(Object.keys(await delivery.refs()).sort()).toEqual(['refs/heads/main', `refs/pull/${delivery.number}/head`])
  })

  test('gets the patch when GitHub does not take the suggestions', { timeout }, async () => {
    const delivery = await openDelivery(stage, { fork: 'ravi', files: wrong, change: right })
    const body = { message: 'Unprocessable Entity', errors: ['Line could not be resolved'] }
    github().fail({ method: 'POST', path: /\/reviews$/, fault: { kind: 'status', status: 422, body } })
    const state = await delivery.end()
    expect(state.outcome?.patchOnly).toMatch(
      /^its head lies in a fork, where I never push, and the suggestions were not taken: GitHub said 422: /,
    )
    expect([reviews(delivery.repo), delivery.ours()]).toEqual([[], [patchText(state, delivery.taskId)]])
  })

  test('whose suggestions were made although the answer was lost gets them once', { timeout }, async () => {
    const delivery = await openDelivery(stage, { fork: 'ravi', files: wrong, change: right })
    github().fail({ method: 'POST', path: /\/reviews$/, fault: { kind: 'cut', when: 'after' } })
    const state = await delivery.end()
    expect(Object.values(state.effects).find(({ kind }) => kind === 'review')).toMatchObject({ state: 'confirmed', foundByReadBack: true })
    expect([reviews(delivery.repo).length, state.outcome?.outcome, delivery.ours()]).toEqual([1, 'succeeded', []])
  })

  test('whose head moved on gets the patch: the suggestions would stand on other lines', { timeout }, async () => {
    const delivery = await openDelivery(stage, { fork: 'ravi', files: wrong, change: right })
    const repo = delivery.repo.replace('octo/', 'ravi/')
    const state = await delivery.end(() => github().commit({ repo, branch: 'feature', files: { x: '1\n' }, author: 'ravi' }))
    expect(state.outcome?.patchOnly).toMatch(/^its head lies in a fork, where I never push, and its head moved to `[0-9a-f]{7}` meanwhile$/)
    expect(reviews(delivery.repo)).toEqual([])
  })

  test('Q35: that was deleted is one', { timeout }, async () => {
    const delivery = await openDelivery(stage, { fork: 'ravi', files: wrong, change: right })
    const state = await delivery.end(() => github().removeRepository(delivery.repo.replace('octo/', 'ravi/')))
    expect([pushes(state), reviews(delivery.repo).length]).toEqual([[], 1])
  })
})

test('a head that was rewritten before it was fetched, and is gone, ends the task in clear words', { timeout }, async () => {
  const gone = 'f'.repeat(40)
  const delivery = await openDelivery(stage, { head: gone })
  const state = await delivery.end()
  expect([state.outcome?.outcome, state.outcome?.reason]).toEqual([
    'failed',
    `the head ${gone} of this pull request was rewritten and is gone; ask again for the new one`,
  ])
})

test('a head that was rewritten is still worked on while GitHub hands it out', { timeout }, async () => {
  const delivery = await openDelivery(stage)
  await delivery.git('update-ref', 'refs/heads/feature', 'refs/heads/main')
  await github().commit({ repo: delivery.repo, branch: 'feature', files: { 'add.sh': 'expr $1 - $2\n' }, author: 'mona' })
  const state = await delivery.end()
  expect(state.workspace?.baseSha).toBe(delivery.head)
  expect(state.outcome?.patchOnly).toMatch(/^newer commits \(`[0-9a-f]{7}`\) changed the same places in `add\.sh`$/)
})
