import { afterAll, beforeAll, expect, test } from 'vitest'
import { classifyError, createGitHubApp, type GitHubApp, type RequestFault } from '../../github/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'

let simulator: Simulator
let app: GitHubApp
beforeAll(async () => {
  simulator = await startSimulator()
  const { github } = simulator
  app = createGitHubApp({ apiUrl: github.url, appId: String(github.appId), privateKey: github.appPrivateKey, timeoutMs: 2_000 })
})
afterAll(() => simulator.close())

const aMinuteAhead = () => Math.ceil(Date.now() / 1_000) + 90
const secondary = (anchor: string) => ({
  message: 'You have exceeded a secondary rate limit.',
  documentation_url: `https://docs.github.com/rest/overview/rate-limits-for-the-rest-api${anchor}`,
})

type Row = [string, { status: number; headers?: Record<string, string>; body?: unknown }, Partial<RequestFault>]
const later = (waitMs: number) => ({ kind: 'later' as const, waitMs })
const rows = (): Row[] => [
  ['retry-after in seconds', { status: 403, headers: { 'retry-after': '7' } }, later(7_000)],
  ['retry-after with 429', { status: 429, headers: { 'retry-after': '7' } }, later(7_000)],
  ['retry-after as a date', { status: 429, headers: { 'retry-after': new Date(Date.now() + 30_000).toUTCString() } }, later(30_000)],
  ['429 without a time', { status: 429 }, later(60_000)],
  [
    'a window that is used up, until its reset',
    { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(aMinuteAhead()) } },
    later(91_000),
  ],
  ['a reset that is past', { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' } }, later(60_000)],
  ['a window with something left', { status: 403, headers: { 'x-ratelimit-remaining': '9' } }, { kind: 'rejected' }],
  ['a secondary limit that names no time', { status: 403, body: secondary('#about-secondary-rate-limits') }, later(60_000)],
  ['the same, as older servers point to it', { status: 403, body: secondary('#secondary-rate-limits') }, later(60_000)],
  ['a denial', { status: 403, body: secondary('') }, { kind: 'rejected' }],
  ['a page that is not there', { status: 404, headers: { 'retry-after': '7' } }, { kind: 'rejected' }],
  ['a server error', { status: 503, headers: { 'retry-after': '7' } }, { kind: 'uncertain' }],
]

test.each(rows())('%s', async (_, answer, expected) => {
  simulator.github.fail({ method: 'GET', path: /\/app$/, fault: { kind: 'status', ...answer } })
  const fault = classifyError(
    await app
      .api(null)
      .rest.apps.getAuthenticated()
      .catch(error => error),
  )
  expect(fault.kind).toBe(expected.kind)
  if (fault.kind === 'later' && expected.kind === 'later') expect(Math.abs(fault.waitMs - (expected.waitMs ?? 0))).toBeLessThan(3_000)
})

test("the wait is measured by GitHub's clock: ours may be wrong by more than the wait", async () => {
  const theirs = Date.now() - 3_600_000
  const headers = {
    date: new Date(theirs).toUTCString(),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(theirs / 1_000) + 40),
  }
  simulator.github.fail({ method: 'GET', path: /\/app$/, fault: { kind: 'status', status: 403, headers } })
  const fault = classifyError(
    await app
      .api(null)
      .rest.apps.getAuthenticated()
      .catch(error => error),
  )
  expect(fault).toMatchObject({ kind: 'later' })
  expect(Math.abs((fault.kind === 'later' ? fault.waitMs : 0) - 41_000)).toBeLessThan(3_000)
})
