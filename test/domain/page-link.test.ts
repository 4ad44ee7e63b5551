import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { readLink, renderLink } from '../../domain/index.ts'

const key = Buffer.alloc(32, 1)
const at = 1_800_000_000_000
const link = { baseUrl: 'https://grok.example', taskId: 't_1', now: at, keepMs: 60_000 }
const kOf = (change: Partial<typeof link> = {}, other = key) =>
  new URL(renderLink({ ...link, ...change }, other)).searchParams.get('k') ?? ''

test('a link says its task and its expiry, and a MAC over both', () => {
  const expiry = '6b49d23c'
  expect(Number.parseInt(expiry, 16)).toBe(at / 1000 + 60)
  const mac = createHmac('sha256', key).update(`grokbot link v1\nt_1\n${expiry}`).digest('hex').slice(0, 32)
  expect(renderLink(link, key)).toBe(`https://grok.example/r/t_1?k=${expiry}${mac}`)
})

const pin = '/r/t_1?k=6b49d23c32420eb0cb7af69497c97ae9c5fa5faa'

test.each([
  ['https://grok.example', `https://grok.example${pin}`],
  ['https://grok.example//', `https://grok.example${pin}`],
  ['https://grok.example/grok/', `https://grok.example/grok${pin}`],
])('from %s it is the same on every machine', (baseUrl, expected) => {
  expect(renderLink({ ...link, baseUrl }, key)).toBe(expected)
})

test('opens the page up to its expiry, and not at it', () => {
  const k = kOf()
  expect([at, at + 59_999, at + 60_000].map(now => readLink({ taskId: 't_1', k, now }, key))).toEqual([at + 60_000, at + 60_000, null])
})

test('with a time beyond what its digits can say ends with them', () => {
  const k = kOf({ keepMs: 1e15 })
  expect(readLink({ taskId: 't_1', k, now: at }, key)).toBe(0xff_ff_ff_ff * 1000)
})

test('of which one digit is another opens nothing', () => {
  const k = kOf()
  const changed = Array.from(k, (digit, index) => `${k.slice(0, index)}${digit === '0' ? '1' : '0'}${k.slice(index + 1)}`)
  expect(changed.map(other => readLink({ taskId: 't_1', k: other, now: at }, key)).filter(until => until !== null)).toEqual([])
})

test.each([
  ['of another task', kOf({ taskId: 't_2' })],
  ['of a task whose name begins alike', kOf({ taskId: 't_1\n' })],
  ['made with another key', kOf({}, Buffer.alloc(32, 2))],
  ['in capitals', kOf().toUpperCase()],
  ['that is shorter', kOf().slice(0, -1)],
  ['with more behind it', `${kOf()}0`],
  ['with a new line behind it', `${kOf()}\n`],
  ['that is empty', ''],
])('%s opens nothing', (_, k) => {
  expect(readLink({ taskId: 't_1', k, now: at }, key)).toBe(null)
})
