import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskState } from '../../domain/index.ts'
import type { Exchange } from '../../simulator/github/observe.ts'
import { exchangeFindings, requestFindings } from '../simulator/official-description.ts'
import { goodFix, openServe, type Repo, type ServeStage } from '../worker/open-serve.ts'

/** A whole task's requests, held to GitHub's own description: the fake may forgive what GitHub does not. */
let stage: ServeStage
let repo: Repo
const sent: Exchange[] = []

beforeAll(async () => {
  // The comment on progress comes at once, so that it is among what is sent.
  stage = await openServe({
    limits: { deliveryDrainMs: 20, sweepMs: 300, livenessMs: 200, readBackGapMs: 50, writeGapMs: 0, progressAfterMs: 1 },
  })
  stage.simulator.github.observe(exchange => sent.push(exchange))
  repo = await stage.repository('official')
})
afterAll(() => stage?.close())

test('every request of a fix on an issue, from token to pull request, is one GitHub describes', { timeout: 120_000 }, async () => {
  const { github } = stage.simulator
  const { number } = github.openIssue({ repo: repo.name, author: 'mona', title: 'It subtracts', body: 'It should add.' })
  const state: TaskState = await repo.say(number, '/grok fix', { turns: [goodFix] })
  expect(state.outcome).toMatchObject({ outcome: 'succeeded' })
  // Failed deliveries are looked for beside it.
  expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual(
    expect.arrayContaining([
      'GET /app',
      'POST /app/installations/{installation_id}/access_tokens',
      'GET /repos/{owner}/{repo}',
      'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
      'GET /repos/{owner}/{repo}/git/ref/{ref+}',
      'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
      'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
      'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
      'POST /repos/{owner}/{repo}/pulls',
    ]),
  )
  expect(sent.flatMap(each => [...requestFindings(each), ...exchangeFindings(each)])).toEqual([])
  github.assertNoUnknownRequests()
})
