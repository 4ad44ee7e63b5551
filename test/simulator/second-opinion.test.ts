import { createEmulator, type Emulator } from 'emulate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeGitHub, type Simulator, startSimulator } from '../../simulator/index.ts'
import { mintJwt } from './fixture.ts'
import { otherwise } from './second-opinion-exceptions.ts'
import { type Held, type Step, steps } from './second-opinion-steps.ts'

/** Two fakes written apart from each other: where they agree, neither was made to fit our product. */
type Side = { url: string; tokens: Record<NonNullable<Step['as']>, string>; held: Held }
type Answer = { status: number; value: unknown }

let simulator: Simulator
let emulator: Emulator
let ours: Side
let theirs: Side

const installation = 100
const owner = 'emulated-owner-token'

beforeAll(async () => {
  simulator = await startSimulator()
  const { github } = simulator
  await github.addRepository({ owner: 'octo', name: 'hello' })
  await github.addRepository({ owner: 'octo', name: 'hidden', private: true })
  github.setPermission('octo/hello', 'maria', 'write')
  const jwt = await mintJwt(github)
  emulator = await createEmulator({ service: 'github', port: 0, seed: seed(github) })
  ours = await openSide(github.url, jwt, github.installation('octo').id)
  theirs = await openSide(emulator.url.replace('localhost', '127.0.0.1'), jwt, installation)
  // Its seed knows no collaborators.
  await ask(theirs, { method: 'PUT', path: '/repos/octo/hello/collaborators/maria', token: owner, body: { permission: 'push' } })
})
afterAll(async () => {
  await simulator?.close()
  await emulator?.close()
})

function seed(github: FakeGitHub) {
  const { app } = github.state
  const { permissions, events, slug } = app
  const installations = [{ installation_id: installation, account: 'octo', repository_selection: 'all' as const }]
  return {
    tokens: { [owner]: { login: 'octo', scopes: ['repo'] } },
    github: {
      users: [{ login: 'octo' }, { login: 'maria' }],
      repos: [
        { owner: 'octo', name: 'hello', auto_init: true },
        { owner: 'octo', name: 'hidden', private: true, auto_init: true },
      ],
      apps: [{ app_id: app.id, slug, name: app.name, private_key: github.appPrivateKey, permissions, events, installations }],
    },
  }
}

async function openSide(url: string, jwt: string, id: number): Promise<Side> {
  const tokens = { app: jwt, bad: 'ghs_nobody', nobody: '', token: '' }
  const side = { url, tokens, held: { installation: id } }
  const { value } = await ask(side, { method: 'POST', path: `/app/installations/${id}/access_tokens`, token: jwt, body: {} })
  tokens.token = (value as { token: string }).token
  return side
}

async function ask(
  { url }: Side,
  { method, path, token, body }: { method: string; path: string; token: string; body?: object },
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'user-agent': 'test', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  return { status: answer.status, value: text === '' ? null : JSON.parse(text) }
}

async function take(side: Side, { method, path, as = 'token', body, keep }: Step): Promise<Answer> {
  const at = path.replace(/\{(\w+)\}/g, (_, name: string) => String(side.held[name]))
  const made = typeof body === 'function' ? body(side.held) : body
  const answer = await ask(side, { method, path: at, token: side.tokens[as], ...(made ? { body: made } : {}) })
  if (keep && answer.status < 300) Object.assign(side.held, keep(answer.value as never))
  return answer
}

// In order, each on what the ones before it made.
test.each(steps)('$name', async step => {
  const [our, their] = [await take(ours, step), await take(theirs, step)]
  const found = differences(our, their)
  const excepted = otherwise.filter(each => each.step.test(step.name) && found.some(one => each.differs.test(one)))
  for (const each of excepted) met.add(each)
  expect(found.filter(one => !excepted.some(each => each.differs.test(one)))).toEqual([])
})

const met = new Set<(typeof otherwise)[number]>()

test('each exception is needed', () => {
  expect(otherwise.filter(each => !met.has(each))).toEqual([])
})

test('what differs is found', () => {
  const value = { state: 'open', draft: false, labels: [], user: { login: 'maria' }, id: 7, url: 'here' }
  const same = { ...value, id: 8, url: 'there', user: { login: 'grok' } }
  expect(differences({ status: 200, value }, { status: 200, value: same })).toEqual([])
  expect(differences({ status: 200, value }, { status: 404, value })).toEqual(['status: 200, there 404'])
  expect(differences({ status: 200, value: [value] }, { status: 200, value: [{ ...same, state: 'closed' }] })).toEqual([
    'state: "open", there "closed"',
  ])
  expect(differences({ status: 200, value }, { status: 200, value: { ...same, labels: {} } })).toEqual(['labels: array, there object'])
  expect(differences({ status: 200, value: [] }, { status: 200, value: [value] })).toEqual(['length: 0, there 1'])
})

/** What each gives in its own way: names of things it made, and when. */
const ownWay = /^(?:id|number|token|sha|content|size|\w*_(?:id|at|url|sha|hunk)|url|expires_at|documentation_url|message)$/

function differences(our: Answer, their: Answer): string[] {
  if (our.status !== their.status) return [`status: ${our.status}, there ${their.status}`]
  return valueDifferences(our.value, their.value)
}

function valueDifferences(our: unknown, their: unknown): string[] {
  if (typeOf(our) !== typeOf(their)) return [`answer: ${typeOf(our)}, there ${typeOf(their)}`]
  if (Array.isArray(our) && Array.isArray(their)) {
    const length = our.length === their.length ? [] : [`length: ${our.length}, there ${their.length}`]
    return length.length > 0 || our.length === 0 ? length : valueDifferences(our[0], their[0])
  }
  if (typeof our !== 'object' || our === null || their === null) return []
  const [one, other] = [our as Record<string, unknown>, their as Record<string, unknown>]
  const both = Object.keys(one).filter(name => name in other)
  if (both.length === 0) return ['answer: nothing in common']
  return both.flatMap(name => fieldDifference(name, one[name], other[name]))
}

function fieldDifference(name: string, our: unknown, their: unknown): string[] {
  const [type, other] = [typeOf(our), typeOf(their)]
  if (type !== other) return [`${name}: ${type}, there ${other}`]
  if (type === 'object' || type === 'array' || ownWay.test(name) || our === their) return []
  return [`${name}: ${JSON.stringify(our)}, there ${JSON.stringify(their)}`]
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
