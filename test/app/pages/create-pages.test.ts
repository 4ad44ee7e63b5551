import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPages } from '../../../app/index.ts'
import { pagesLimits } from '../../../app/pages/limits.ts'
import type { KeptFile } from '../../../app/pages/open-kept-file.ts'
import { sendPage } from '../../../app/pages/send-page.ts'
import { verifyFile } from '../../../cli/verify.ts'
import { readPublicKey, renderLink } from '../../../domain/index.ts'
import { fixedSigner } from '../../domain/bundle-scene.ts'
import { eventOf } from '../../ledger/samples.ts'
import { keepMs, linkKey, now, openPageScene, type PageScene, patch } from './page-scene.ts'

let scene: PageScene
beforeAll(async () => {
  scene = await openPageScene()
  await scene.record('t_private')
  await scene.record('t_other')
  await scene.record('t_running', { events: [eventOf('attempt.started')], end: null })
  await scene.record('t_erased')
  await scene.erase('t_erased')
})
afterAll(() => scene.close())

type Got = { status: number; headers: Record<string, unknown>; body: string }

/** As the bytes on the wire say it: no redirect, no encoding, no path made shorter. */
function get(place: string, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const call = request(scene.origin, { path: place, method }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const { date: _, connection: __, 'keep-alive': ___, ...headers } = response.headers
        resolve({ status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString('utf8') })
      })
    })
    call.on('error', reject).end()
  })
}

/** A file that tells whether it was read, and whether it was closed. */
function watchedFile() {
  const seen = { reads: 0, closed: false }
  const stream = new Readable({
    read() {
      seen.reads += 1
    },
    destroy(error, done) {
      seen.closed = true
      done(error)
    },
  })
  const kept: KeptFile = { bytes: 4, start: '', stream }
  return { seen, kept }
}

const common = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
}
const strictest = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

describe('with its link', () => {
  test('a task has one page, of which nothing runs, loads or is kept', async () => {
    const { status, headers, body } = await get(scene.place('t_private'))
    expect([status, headers]).toEqual([
      200,
      {
        ...common,
        'content-type': 'text/html; charset=utf-8',
        'content-length': String(Buffer.byteLength(body)),
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='$/,
        ),
      },
    ])
    expect(body).toContain('<title>failed – fix – octo/pager #12</title>')
    expect(body).not.toMatch(/<script|<img|<link|<iframe|<form| style=| on[a-z]+=/)
  })
  test('its patch is a file to keep', async () => {
    expect(await get(scene.place('t_private', 'change.patch'))).toEqual({
      status: 200,
      headers: {
        ...common,
        'content-type': 'text/plain; charset=utf-8',
        'content-length': String(patch.length),
        'content-disposition': 'attachment; filename="change.patch"',
        'content-security-policy': strictest,
      },
      body: patch,
    })
  })
  test('its bundle is one that verifies with the keys that are published', async () => {
    const { status, headers, body } = await get(scene.place('t_private', 'bundle.json'))
    expect([status, headers]).toEqual([
      200,
      {
        ...common,
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(Buffer.byteLength(body)),
        'content-disposition': 'attachment; filename="bundle.json"',
        'content-security-policy': strictest,
      },
    ])
    const file = path.join(tmpdir(), `grokbot-page-${process.pid}.json`)
    writeFileSync(file, body)
    onTestFinished(() => rmSync(file))
    const { exitCode, text } = await verifyFile(file, { keys: `${scene.origin}/.well-known/grokbot/keys.json` })
    expect([exitCode, text.split(':')[0]]).toEqual([0, 'ok'])
  })
  test('a HEAD request gets the same head and nothing else', async () => {
    for (const place of [scene.place('t_private'), scene.place('t_private', 'change.patch'), '/.well-known/grokbot/keys.json', '/r/none']) {
      const { body: _, ...head } = await get(place)
      expect(await get(place, 'HEAD')).toEqual({ ...head, body: '' })
    }
  })
  test('of which no byte of a file is read for it', async () => {
    const file = watchedFile()
    const answer = await createPages({ ...scene.ports, readPatch: async () => file.kept })({
      method: 'HEAD',
      url: scene.place('t_private', 'change.patch'),
    })
    const server = createServer((_, response) => answer && sendPage(response, answer)).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method: 'HEAD' })
    expect([headers.get('content-length'), file.seen]).toEqual(['4', { reads: 0, closed: true }])
  })
  test('a task that runs has a page that says so, and no files yet', async () => {
    const { status, body } = await get(scene.place('t_running'))
    expect([status, body.match(/<title>.*<\/title>/)?.[0]]).toEqual([200, '<title>running – fix – octo/pager #12</title>'])
    expect(body).toContain('This page does not change by itself.')
    expect([...body.matchAll(/href="([^"#]+)"/g)].map(([, address]) => address)).toEqual(['../.well-known/grokbot/keys.json'])
    expect((await get(scene.place('t_running', 'bundle.json'))).status).toBe(404)
  })
})

describe('what is asked for in vain', () => {
  const link = (change: object, key = linkKey) => renderLink({ baseUrl: '', taskId: 't_private', now, keepMs, ...change }, key)
  const k = () => scene.place('t_private').split('?k=')[1] ?? ''
  const inVain: [what: string, place: () => string][] = [
    ['no key', () => '/r/t_private'],
    ['an empty key', () => '/r/t_private?k='],
    ['a wrong key', () => `/r/t_private?k=${'0'.repeat(40)}`],
    ['a key of another task', () => `/r/t_private?k=${scene.place('t_other').split('?k=')[1]}`],
    ['a key that is over', () => link({ now: now - keepMs })],
    ['a key of another installation', () => link({}, Buffer.alloc(32, 8))],
    ['a key in capitals', () => `/r/t_private?k=${k().toUpperCase()}`],
    ['two keys', () => `/r/t_private?k=${k()}&k=${k()}`],
    ['a key under another name', () => `/r/t_private?K=${k()}`],
    ['the patch with a wrong key', () => `/r/t_private/change.patch?k=${'0'.repeat(40)}`],
    ['the bundle without a key', () => '/r/t_private/bundle.json'],
    ['another file', () => `/r/t_private/signing.pem?k=${k()}`],
    ['a file beside the task', () => `/r/t_private/../t_private/bundle.json?k=${k()}`],
    ['a name with a slash', () => `/r/t_private%2f..%2ft_other?k=${k()}`],
    ['a name that leads up', () => `/r/..?k=${k()}`],
    ['a slash behind it', () => `/r/t_private/?k=${k()}`],
    ['an unknown task without a key', () => '/r/t_unknown'],
    ['the patch of an erased task, with its link', () => scene.place('t_erased', 'change.patch')],
    ['the patch of a task without one, with its link', () => scene.place('t_running', 'change.patch')],
  ]
  test.each(inVain)('gets the same bytes and the same head as an unknown task with a right key: %s', async (_, place) => {
    const unknown = await get(scene.place('t_unknown'))
    expect(unknown).toMatchObject({ status: 404, body: expect.stringContaining('There is nothing here') })
    expect(await get(place())).toEqual(unknown)
  })

  test('costs no look at the task, its files or the keys', async () => {
    const fail = async () => {
      throw new Error('it was looked at')
    }
    const ports = { ...scene.ports, ledger: { task: fail, readEvents: fail }, readPatch: fail, readBundle: fail }
    const pages = createPages(ports)
    for (const [, place] of inVain.slice(0, -2)) expect((await pages({ method: 'GET', url: place() }))?.status).toBe(404)
    expect((await pages({ method: 'GET', url: scene.place('t_private') }))?.status).toBe(503)
  })
})

test('another method, and what is no page, is not for the pages', async () => {
  const pages = createPages(scene.ports)
  expect(await pages({ method: 'POST', url: scene.place('t_private') })).toBe(null)
  expect(await pages({ method: 'GET', url: '/rx' })).toBe(null)
  expect(await get(scene.place('t_private'), 'POST')).toMatchObject({ status: 404, body: 'no such page\n' })
})

describe('an erased task', () => {
  test('has a page that says so and nothing of what it was about', async () => {
    const { status, body } = await get(scene.place('t_erased'))
    expect([status, body.match(/<title>.*<\/title>/)?.[0]]).toEqual([410, '<title>erased – fix – octo/pager</title>'])
    expect(body).not.toContain('plain words')
    expect(body).toContain(scene.place('t_erased', 'bundle.json').slice('/r/'.length))
  })
  test('has a bundle with nothing but its headers', async () => {
    const { status, body } = await get(scene.place('t_erased', 'bundle.json'))
    expect([status, JSON.parse(body).manifest.erased]).toEqual([200, { at: now }])
  })
  test('has no files as long as those from before lie there', async () => {
    await scene.record('t_half')
    await scene.ledger.eraseTask('t_half', 'mona')
    for (const file of ['bundle.json', 'change.patch']) expect((await get(scene.place('t_half', file))).status).toBe(404)
    expect((await get(scene.place('t_half'))).body).not.toContain('bundle.json?k=')
  })
  test('whose payloads go while it is read shows none of them', async () => {
    await scene.record('t_going')
    const { ledger } = scene
    const pages = createPages({
      ...scene.ports,
      ledger: {
        task: id => ledger.task(id),
        async readEvents(id, afterSeq, limit) {
          const events = await ledger.readEvents(id, afterSeq, limit)
          return events.map((event, index) => (index < 3 ? event : { ...event, payload: null }))
        },
      },
    })
    const answer = await pages({ method: 'GET', url: scene.place('t_going') })
    expect(answer?.status).toBe(410)
    expect(String(answer?.body)).not.toContain('plain words')
  })
})

test('the public keys are a JSON Web Key Set, without any key that is none', async () => {
  const { status, headers, body } = await get('/.well-known/grokbot/keys.json')
  const keys = [1, 2].map(count => {
    const pem = fixedSigner(count).publicKeyPem
    const { keyId, spki } = readPublicKey(pem) ?? { keyId: '', spki: Buffer.alloc(0) }
    return { kty: 'OKP', crv: 'Ed25519', x: spki.subarray(-32).toString('base64url'), kid: keyId, use: 'sig', alg: 'EdDSA', pem }
  })
  expect([status, headers['cache-control'], JSON.parse(body)]).toEqual([200, 'public, max-age=300', { keys }])
  const pages = createPages({ ...scene.ports, publicKeys: async () => ['no key', fixedSigner(1).publicKeyPem] })
  expect(JSON.parse(String((await pages({ method: 'GET', url: '/.well-known/grokbot/keys.json' }))?.body)).keys).toEqual([keys[0]])
})

describe('a page that can not be made', () => {
  test('is answered 503, says when to come again, and the log says why', async () => {
    const said: unknown[] = []
    const logger = { ...scene.ports.logger, error: (fields: unknown) => said.push(fields) } as never
    const error = new Error('disk gone')
    const pages = createPages({ ...scene.ports, logger, readBundle: () => Promise.reject(error) })
    const answer = await pages({ method: 'GET', url: scene.place('t_private') })
    expect([answer?.status, answer?.headers['retry-after'], said]).toEqual([503, '30', [{ error }]])
    expect(String(answer?.body)).not.toContain('disk gone')
  })
  test('in time is answered 503, and the file it may have opened by then is closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const file = watchedFile()
    let open: () => void = () => undefined
    const readBundle = () => new Promise<KeptFile>(resolve => (open = () => resolve(file.kept)))
    const asked = createPages({ ...scene.ports, readBundle })({ method: 'GET', url: scene.place('t_private', 'bundle.json') })
    await setImmediate()
    await vi.advanceTimersByTimeAsync(pagesLimits.pageMsMax)
    expect((await asked)?.status).toBe(503)
    open()
    await setImmediate()
    expect(file.seen).toEqual({ reads: 0, closed: true })
  })
  test('because others are being made is answered 503, and the next one is made', async () => {
    const waiting: (() => void)[] = []
    const hold = () => new Promise<null>(resolve => waiting.push(() => resolve(null)))
    const pages = createPages({ ...scene.ports, readBundle: hold })
    const asked = Array.from({ length: pagesLimits.pagesAtOnceMax + 1 }, () => pages({ method: 'GET', url: scene.place('t_private') }))
    expect((await asked.pop())?.status).toBe(503)
    while (waiting.length < asked.length) await setImmediate()
    for (const go of waiting.splice(0)) go()
    expect((await Promise.all(asked)).map(answer => answer?.status)).toEqual(asked.map(() => 200))
    const next = pages({ method: 'GET', url: scene.place('t_private') })
    while (waiting.length === 0) await setImmediate()
    waiting[0]?.()
    expect((await next)?.status).toBe(200)
  })
})

test('ten thousand events are read in pieces, and others have their turn between them', async () => {
  const { ledger } = scene
  const [head] = await ledger.readEvents('t_running')
  if (head === undefined) throw new Error('there is no first event')
  const total = 10_000
  const asked: number[] = []
  const turns: number[] = []
  let turn = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; turn += 1) await setImmediate()
  })()
  const pages = createPages({
    ...scene.ports,
    ledger: {
      task: id => ledger.task(id),
      async readEvents(_, afterSeq, limit) {
        asked.push(limit)
        turns.push(turn)
        const count = Math.min(limit, total - afterSeq)
        return Array.from({ length: count }, (__, index) => ({ ...head, seq: afterSeq + index + 1 }))
      },
    },
  })
  const answer = await pages({ method: 'GET', url: scene.place('t_running') })
  isOver = true
  await others
  expect(asked).toEqual(Array.from({ length: total / pagesLimits.pageEventsAtOnceMax + 1 }, () => pagesLimits.pageEventsAtOnceMax))
  expect(turns.every((at, index) => index === 0 || at > (turns[index - 1] ?? 0))).toBe(true)
  expect(String(answer?.body)).toContain(`The newest 300 are shown; ${total - 300} older events are left out.`)
})
