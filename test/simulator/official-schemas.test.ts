import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../simulator/github/observe.ts'
import { routes } from '../../simulator/github/routes/index.ts'
import { type Simulator, startSimulator } from '../../simulator/index.ts'
import { mint, mintJwt } from './fixture.ts'
import { answerFindings, describedRows, exchangeFindings, inventedFields, metDeviations, requestFindings } from './official-description.ts'
import { deviations, rowsWithout } from './official-exceptions.ts'
import { appPlays, codePlays, fill, makeWorld, type Play, pullPlays, repo, threadPlays, type Values } from './official-plays.ts'

const plays: Record<string, Play> = { ...appPlays, ...threadPlays, ...pullPlays, ...codePlays }
const rows = routes.map(({ method, path, permission, schema }) => ({ row: `${method} ${path}`, method, path, permission, schema }))
type Row = (typeof rows)[number]

const permissions = {
  metadata: 'read',
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  checks: 'write',
  administration: 'read',
} as const
let simulator: Simulator
let values: Values
let tokens: Record<NonNullable<Play['as']> | 'token' | 'poor', string>
let seen: Exchange[] = []

beforeAll(async () => {
  simulator = await startSimulator({ github: { permissions } })
  const { github } = simulator
  github.observe(exchange => seen.push(exchange))
  values = await makeWorld(github)
  tokens = {
    app: await mintJwt(github),
    person: github.userToken('maria'),
    token: await mint(github, 'octo'),
    spare: await mint(github, 'octo'),
    poor: await mint(github, 'octo', { permissions: { metadata: 'read' } }),
  }
  values.token = tokens.token
})
afterAll(async () => {
  await simulator?.github.webhooksSettled()
  await simulator?.close()
})

async function send(
  { method, path }: Row,
  at: Values,
  { token, query, body }: { token: string; query?: string; body?: object },
): Promise<Exchange> {
  seen = []
  await fetch(`${simulator.github.url.replace(/\/v3$/, path === '/graphql' ? '' : '/v3')}${fill(path, at)}${query ? `?${query}` : ''}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'test' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).then(answer => answer.arrayBuffer())
  const last = seen.at(-1)
  if (!last || `${last.method} ${last.path}` !== `${method} ${path}`) throw new Error(`${method} ${path} was not reached`)
  return last
}

async function play(row: Row): Promise<Exchange> {
  const { make, body, as = 'token', query } = plays[row.row] ?? { status: 0 }
  const at = { ...values, ...(await make?.(simulator.github, values)) }
  return await send(row, at, {
    token: tokens[as],
    ...(query ? { query } : {}),
    ...(body ? { body: typeof body === 'function' ? body(at) : body } : {}),
  })
}

test('every row of the fake is described by GitHub, and is played here', () => {
  const described = new Set([...describedRows(), ...Object.keys(rowsWithout)])
  expect(rows.filter(({ row }) => !described.has(row))).toEqual([])
  expect(Object.keys(plays).sort()).toEqual(rows.map(({ row }) => row).sort())
})

describe('a request that succeeds and its answer are as GitHub describes them', () => {
  test.each(rows)('$row', async row => {
    const exchange = await play(row)
    expect({ status: exchange.status, answer: exchange.status === plays[row.row]?.status ? null : exchange.answer }).toEqual({
      status: plays[row.row]?.status,
      answer: null,
    })
    expect([...requestFindings(exchange), ...answerFindings(exchange)]).toEqual([])
    expect(inventedFields(exchange)).toEqual([])
  })
})

describe('a refusal is as GitHub describes it', () => {
  test.each<[string, number, (row: Row) => boolean, (row: Row) => Promise<Exchange>]>([
    ['without a token that is good', 401, () => true, row => send(row, values, { token: 'nobody' })],
    ['without the permission', 403, isRestricted, row => send(row, values, { token: tokens.poor })],
    [
      'of a repository that is not there',
      404,
      ({ path }) => path.includes('{repo}'),
      row => send(row, { ...values, repo: 'absent' }, { token: tokens[plays[row.row]?.as ?? 'token'] }),
    ],
    [
      'of a body with an unknown field',
      422,
      ({ schema, path }) => schema !== null && path !== '/graphql',
      async row => {
        const { make, as = 'token' } = plays[row.row] ?? { status: 0 }
        return send(row, { ...values, ...(await make?.(simulator.github, values)) }, { token: tokens[as], body: { unheard_of: 1 } })
      },
    ],
  ])('%s: %i', async (_, status, fits, refuse) => {
    const refused = rows.filter(fits)
    expect(refused.length).toBeGreaterThan(20)
    for (const row of refused) {
      const exchange = await refuse(row)
      expect({ row: row.row, status: exchange.status, findings: answerFindings(exchange) }).toEqual({ row: row.row, status, findings: [] })
    }
  })
})

describe('the check can fail', () => {
  const row = rowOf(`POST /repos/{owner}/{repo}/issues/{issue_number}/comments`)
  const changed = async (change: (exchange: Exchange) => void) => {
    const exchange = structuredClone({ ...(await play(row)), query: undefined })
    const planted = { ...exchange, query: new URLSearchParams() }
    change(planted)
    return { request: requestFindings(planted).map(shown), answer: answerFindings(planted).map(shown), invented: inventedFields(planted) }
  }
  const shown = ({ part, errors }: { part: string; errors: string[] }) => [part, ...errors]
  const nothing = { request: [], answer: [], invented: [] }

  test.each<[string, (exchange: Exchange) => void, object]>([
    ['nothing', () => {}, {}],
    ['a body of another type', each => set(each, 'body', { body: 7 }), { request: [['body', '/body must be string']] }],
    ['a body without what is needed', each => set(each, 'body', {}), { request: [['body', " must have required property 'body'"]] }],
    ['no body', each => set(each, 'body', undefined), { request: [['body', 'the body is missing']] }],
    ['a misspelt field', each => set(each, 'body', { body: 'b', bdy: 'b' }), { request: [['body', '/bdy is not described']] }],
    ['a misspelt parameter', each => each.query.set('per_pages', '5'), { request: [['query', '/per_pages is not described']] }],
    [
      'a name in place of a number',
      each => set(each.params, 'issue_number', 'last'),
      { request: [['path', '/issue_number must be integer']] },
    ],
    ['an answer of another type', each => set(fieldsOf(each), 'id', 'seven'), { answer: [['answer', '/id must be integer']] }],
    [
      'an answer that is no date',
      each => set(fieldsOf(each), 'created_at', 'today'),
      { answer: [['answer', '/created_at must match format "date-time"']] },
    ],
    [
      'an answer without a field',
      each => set(fieldsOf(each), 'user', undefined),
      { answer: [['answer', " must have required property 'user'"]] },
    ],
    ['an answer with a field of its own', each => set(fieldsOf(each).user as object, 'mood', 'good'), { invented: ['/user/mood'] }],
    ['a status of its own', each => set(each, 'status', 418), { answer: [['status', '418 is not described']] }],
    [
      'a row of its own',
      each => set(each, 'path', '/moods'),
      { request: [['row', 'GitHub describes no such operation']], answer: [['row', 'GitHub describes no such operation']] },
    ],
  ])('%s', async (_, change, found) => {
    expect(await changed(change)).toEqual({ ...nothing, ...found })
  })
})

function rowOf(name: string): Row {
  const found = rows.find(({ row }) => row === name)
  if (!found) throw new Error(`no row ${name}`)
  return found
}

function set(target: object, name: string, value: unknown): void {
  if (value === undefined) Reflect.deleteProperty(target, name)
  else Reflect.set(target, name, value)
}

function fieldsOf({ answer }: Exchange): Record<string, unknown> {
  return (answer as { value: Record<string, unknown> }).value
}

test('each exception is needed', async () => {
  const { github } = simulator
  await github.addRepository({ owner: 'fran', name: 'hello', forkOf: repo })
  await github.commit({ repo: 'fran/hello', branch: 'trunk', files: { 'f.ts': 'f\n' } })
  const { number } = await github.openPull({ repo, author: 'fran', title: 'From a fork', head: 'fran:trunk' })
  const { id } = await github.reviewComment({ repo, number, author: 'ann', path: 'f.ts', line: 1, body: 'Why?' })
  await github.commit({ repo: 'fran/hello', branch: 'trunk', files: { 'f.ts': null, 'g.ts': 'g\n' } })
  await github.removeRepository('fran/hello')
  const at = { ...values, pull_number: number, comment_id: id }
  const comments = '/repos/{owner}/{repo}/pulls/{pull_number}/comments'
  const { token } = tokens
  const exchanges = [
    await send(rowOf('GET /app/installations'), at, { token: tokens.app }),
    await send(rowOf('GET /repos/{owner}/{repo}/pulls/{pull_number}'), at, { token }),
    await send(rowOf('GET /repos/{owner}/{repo}/pulls/comments/{comment_id}'), at, { token }),
    await send(rowOf(`POST ${comments}`), at, { token, body: { body: 'So', in_reply_to: id } }),
  ]
  expect(exchanges.flatMap(exchangeFindings)).toEqual([])
  expect(deviations.filter(each => !metDeviations.has(each))).toEqual([])
})

/** Where metadata is not enough, and what the path names is there without more being made. */
function isRestricted({ permission, path }: Row): boolean {
  if (typeof permission === 'string') return false
  const metadata = 'anyOf' in permission && permission.anyOf.some(([name]) => name === 'metadata')
  return !metadata && !/\{(?:reaction_id|review_id|check_run_id)\}|\/pulls\/comments\/\{|\{pull_number\}\/comments\/\{/.test(path)
}
