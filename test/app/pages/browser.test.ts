import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createPages } from '../../../app/index.ts'
import { hostileTexts } from './hostile-texts.ts'
import { openPageScene, type PageScene } from './page-scene.ts'

/** A real browser on a real page over HTTP: what the bytes say and what a browser makes of them are two things. */
let scene: PageScene
let browser: Browser
let page: Page
const pull = 'https://github.example/octo/pager/pull/13'
beforeAll(async () => {
  scene = await openPageScene()
  await scene.record('t_plain')
  await scene.record('t_linked', { pullUrl: pull })
  await scene.record('t_long', { foreign: 'a'.repeat(200) })
  for (const [index, [, foreign]] of hostileTexts.entries()) await scene.record(`t_hostile_${index}`, { foreign })
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  page = await browser.newPage()
})
beforeEach(async () => {
  page.removeAllListeners()
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1_100, height: 800 })
})
afterAll(async () => {
  await browser.close()
  await scene.close()
})

type Seen = { requests: string[]; said: string[] }

/** Notes every request, and everything a page can say: dialogs, errors, what its policy refused. */
function watch(page: Page): Seen {
  const seen: Seen = { requests: [], said: [] }
  page.on('request', request => seen.requests.push(request.url()))
  page.on('console', message => seen.said.push(message.text()))
  page.on('pageerror', error => seen.said.push(String(error)))
  page.on('dialog', async dialog => {
    seen.said.push(`dialog ${dialog.message()}`)
    await dialog.dismiss()
  })
  return seen
}

/** Serves other bytes than ours, or tells who asked. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** In the page, by the debugger's door: its own policy would let no script in. */
const inPage = <T>(script: string) => page.evaluate(script) as Promise<T>
const openAll = () => inPage(`document.querySelectorAll('details').forEach(details => { details.open = true })`)
const outline = () =>
  inPage<string[]>(`[...document.querySelectorAll('*')].map(node => [node.localName, ...node.getAttributeNames()].join(' '))`)
const times = async (words: string) => (await inPage<string>('document.body.innerText')).split(words).length

describe('F05: hostile text', () => {
  test('runs, loads and changes nothing, and is seen as often as plain words are', async () => {
    await page.goto(scene.link('t_plain'))
    await openAll()
    const plain = { outline: await outline(), times: await times('plain words') }
    for (const [index, [name, foreign, shown = foreign]] of hostileTexts.entries()) {
      const seen = watch(page)
      const url = scene.link(`t_hostile_${index}`)
      await page.goto(url)
      await openAll()
      expect({ name, outline: await outline(), times: await times(shown), ...seen }).toEqual({ name, ...plain, requests: [url], said: [] })
      expect(await page.title()).toBe('failed – fix – octo/pager #12')
      page.removeAllListeners()
    }
  })

  /** A page of ours into which markup was planted, as if the escape function were not there. */
  async function openPlanted(policy: 'as it is' | 'none') {
    const answer = await createPages(scene.ports)({ method: 'GET', url: scene.place('t_plain') })
    const asked: (string | undefined)[] = []
    const elsewhere = await serve((request, response) => {
      asked.push(request.url)
      response.end()
    })
    const planted = [
      '<script>alert(1)</script>',
      '<svg onload="alert(2)"></svg>',
      `<img src="${elsewhere}x.png" onerror="alert(3)">`,
      '<p style="color:red">red</p>',
      `<base href="${elsewhere}">`,
      `<form action="${elsewhere}form"><button>Approve</button></form>`,
      `<iframe src="${elsewhere}frame"></iframe>`,
    ].join('')
    const url = await serve((_, response) => {
      const { 'content-length': __, 'content-security-policy': held = '', ...headers } = answer?.headers ?? {}
      response.writeHead(200, policy === 'none' ? headers : { ...headers, 'content-security-policy': held })
      response.end(String(answer?.body).replace('<main>', `<main>${planted}`))
    })
    const seen = watch(page)
    await page.goto(url)
    await page.locator('button').click({ noWaitAfter: true })
    return { said: seen.said, asked }
  }
  test('is stopped by the page’s policy, were it markup', async () => {
    const { said, asked } = await openPlanted('as it is')
    const refused = ['script', 'event handler', 'loading the image', 'inline style', 'base', 'form', 'fram']
    await expect.poll(() => refused.filter(what => !said.some(line => line.toLowerCase().includes(what)))).toEqual([])
    expect(said.filter(line => !/content security policy/i.test(line))).toEqual([])
    expect(asked).toEqual([])
  })
  test('and runs where that policy is missing', async () => {
    const { said, asked } = await openPlanted('none')
    const ran = ['dialog 1', 'dialog 2', 'dialog 3', '/form?', '/frame', '/x.png']
    await expect.poll(() => ran.filter(what => ![...said, ...asked].includes(what))).toEqual([])
  })
})

describe('a page in a browser', () => {
  test('has its headings, its tables with headers, and its landmarks, also without scripts', async () => {
    const bare = await browser.newPage({ javaScriptEnabled: false })
    onTestFinished(() => bare.close())
    await bare.goto(scene.link('t_plain'))
    const texts = (selector: string) => bare.locator(selector).allTextContents()
    expect(await texts('h1')).toEqual(['fix · plain words'])
    expect(await texts('h2')).toEqual(['Verdict', 'Look at', 'Change', 'Checks', 'Receipts', 'Events'])
    expect(await texts('thead th')).toEqual([
      ...['check', 'before aaaaaaa', 'after 1111111'],
      ...['file', '+', '−', 'note'],
      ...['seq', 'kind', 'what', 'decision', 'sandbox', 'result', 'time', 'bytes', 'hosts'],
      ...['seq', 'at (UTC)', 'type', 'actor', 'attempt'],
    ])
    expect(await bare.locator('th:not([scope])').count()).toBe(0)
    expect(await bare.locator('table:not(:has(caption))').count()).toBe(0)
    expect(await texts('table.evidence tbody tr')).toEqual(['plain words1 of 4 fail1 of 4 fail'])
    expect(await Promise.all(['header', 'main', 'footer'].map(name => bare.locator(`body > ${name}`).count()))).toEqual([1, 1, 1])
    expect(await texts('.state')).toEqual(['■ failed'])
    expect(await bare.locator('details[open]').count()).toBe(1)
  })

  test.each([320, 1_100])('at %i pixels nothing is scrolled sideways and nothing is cut off', async width => {
    await page.setViewportSize({ width, height: 800 })
    for (const taskId of ['t_plain', 't_long']) {
      await page.goto(scene.link(taskId))
      await openAll()
      const outside = await inPage<string[]>(
        `[...document.querySelectorAll('body *:not(.skip, thead, thead *)')].filter(node => node.getBoundingClientRect().right > ${width}).map(node => node.outerHTML.slice(0, 80))`,
      )
      expect([taskId, await inPage('document.documentElement.scrollWidth'), outside]).toEqual([taskId, width, []])
    }
  })

  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  test.each([
    ['light', 1_100],
    ['dark', 320],
  ] as const)('in %s at %i pixels axe-core finds nothing', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    const seen = watch(page)
    await page.goto(scene.link('t_plain'))
    await inPage(axe)
    const found = await inPage<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>(
      `axe.run({ resultTypes: ['violations'], preload: false })`,
    )
    expect(found.violations.map(({ id, impact, nodes }) => [id, impact, nodes.map(node => node.html).slice(0, 3)])).toEqual([])
    expect(seen.said).toEqual([])
  })

  test('is walked by the keyboard: the first stop leads past the head, and every stop can be seen', async () => {
    await page.goto(scene.link('t_plain'))
    await page.keyboard.press('Tab')
    expect(await inPage('document.activeElement.textContent')).toBe('To the verdict')
    expect(await inPage('document.activeElement.getBoundingClientRect().left >= 0')).toBe(true)
    await page.keyboard.press('Tab')
    expect(await inPage('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    const small = await inPage<string[]>(
      `[...document.querySelectorAll('nav a, summary')].filter(node => node.getBoundingClientRect().height < 24).map(node => node.textContent)`,
    )
    expect(small).toEqual([])
  })

  test('leads to its files, which are saved and not shown', async () => {
    await page.goto(scene.link('t_plain'))
    for (const name of ['change.patch', 'bundle.json']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator(`nav a[href*="${name}"]`).click()])
      expect(download.suggestedFilename()).toBe(name)
      expect(await download.failure()).toBe(null)
    }
  })

  test('tells nobody its address: what a link leads to learns neither task nor key', async () => {
    const referrers: unknown[] = []
    const address = await serve((request, response) => {
      referrers.push(request.headers.referer)
      response.end('there')
    })
    await page.goto(scene.link('t_linked'))
    await inPage(`document.querySelector('a[href="${pull}"]').setAttribute('href', ${JSON.stringify(address)})`)
    await page.locator(`a[href="${address}"]`).click()
    await page.waitForURL(address)
    expect(referrers[0]).toBe(undefined)
  })
})
