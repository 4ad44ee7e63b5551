import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxOptions, sandboxLimitDefaults } from '../../sandbox/index.ts'
import { give, makePlace, type Opened, open, text } from './open.ts'

/** A package registry on 127.0.0.1 which only the operator's option may reach, and a server nobody may reach. */
let registry: Server
let forbidden: Server
let port = 0
let forbiddenPort = 0
let seen: { method: string; url: string; host: string; body: string; headers: Record<string, unknown> }[] = []
let forbiddenHits = 0
const name = 'registry.test'
let packages = ''

beforeAll(async () => {
  packages = mkdtempSync(join(tmpdir(), 'grokbot-registry-'))
  buildPackages(packages)
  registry = createServer((request, response) => void serve(request, response))
  forbidden = createServer((_, response) => {
    forbiddenHits += 1
    response.end('FORBIDDEN')
  })
  for (const server of [registry, forbidden]) await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (registry.address() as { port: number }).port
  forbiddenPort = (forbidden.address() as { port: number }).port
})

afterAll(() => {
  registry.close()
  forbidden.close()
  rmSync(packages, { recursive: true, force: true })
})

/** An npm tarball and a Python source distribution, made here. */
function buildPackages(folder: string): void {
  mkdirSync(join(folder, 'package'))
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify({ name: 'left', version: '1.0.0', main: 'index.js' }))
  writeFileSync(join(folder, 'package', 'index.js'), 'module.exports = 42\n')
  execFileSync('tar', ['-czf', 'left-1.0.0.tgz', 'package'], { cwd: folder })
  const wheel = join(folder, 'wheel')
  mkdirSync(join(wheel, 'right-1.0.0.dist-info'), { recursive: true })
  writeFileSync(join(wheel, 'right.py'), 'answer = 42\n')
  writeFileSync(join(wheel, 'right-1.0.0.dist-info', 'METADATA'), 'Metadata-Version: 2.1\nName: right\nVersion: 1.0.0\n')
  writeFileSync(
    join(wheel, 'right-1.0.0.dist-info', 'WHEEL'),
    'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  )
  writeFileSync(
    join(wheel, 'right-1.0.0.dist-info', 'RECORD'),
    'right.py,,\nright-1.0.0.dist-info/METADATA,,\nright-1.0.0.dist-info/WHEEL,,\nright-1.0.0.dist-info/RECORD,,\n',
  )
  execFileSync(
    '/usr/bin/python3',
    ['-m', 'zipfile', '-c', join(folder, 'right-1.0.0-py3-none-any.whl'), 'right.py', 'right-1.0.0.dist-info'],
    { cwd: wheel },
  )
}

const integrity = () =>
  `sha512-${createHash('sha512')
    .update(readFileSync(join(packages, 'left-1.0.0.tgz')))
    .digest('base64')}`

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request) body += chunk
  seen.push({ method: request.method ?? '', url: request.url ?? '', host: request.headers.host ?? '', body, headers: request.headers })
  const url = request.url ?? ''
  if (url === '/left') {
    const dist = { tarball: `http://${name}:${port}/left-1.0.0.tgz`, integrity: integrity() }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ name: 'left', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { name: 'left', version: '1.0.0', dist } } }),
    )
  } else if (url === '/simple/right/') {
    response.setHeader('content-type', 'text/html')
    response.end('<a href="/right-1.0.0-py3-none-any.whl">right-1.0.0-py3-none-any.whl</a>')
  } else if (url === '/redirect') {
    response.writeHead(302, { location: `http://127.0.0.1:${forbiddenPort}/` }).end()
  } else if (existsSync(join(packages, url.slice(1))) && url.length > 1) {
    response.end(readFileSync(join(packages, url.slice(1))))
  } else {
    response.writeHead(url.startsWith('/echo') ? 200 : 404).end(url)
  }
}

async function openProxied(options: Partial<SandboxOptions> = {}): Promise<Opened> {
  return open({
    network: {
      kind: 'proxy',
      allow: [
        { host: name, port },
        { host: 'private.test', port: 80 },
        { host: 'localhost', port: forbiddenPort },
      ],
    },
    privateEgress: [{ host: name, port, address: '127.0.0.1' }],
    ...options,
  })
}

test('npm ci installs from the registry through the proxy, and the log says so', async () => {
  const opened = await openProxied()
  writeFileSync(join(opened.workspace, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', dependencies: { left: '1.0.0' } }), {
    mode: 0o644,
  })
  writeFileSync(
    join(opened.workspace, 'package-lock.json'),
    JSON.stringify({
      name: 'x',
      version: '1.0.0',
      lockfileVersion: 3,
      packages: {
        '': { name: 'x', version: '1.0.0', dependencies: { left: '1.0.0' } },
        'node_modules/left': { version: '1.0.0', resolved: `http://${name}:${port}/left-1.0.0.tgz`, integrity: integrity() },
      },
    }),
    { mode: 0o644 },
  )
  const ran = await opened.sh(`npm ci --registry http://${name}:${port}/ --no-audit --no-fund 2>&1 && node -p 'require("left")'`, 60_000)
  expect(ran.output).toMatch(/42\n$/)
  expect(opened.sandbox.egress()).toContainEqual({ host: name, port, verdict: 'allowed', reason: 'request' })
}, 90_000)

test('pip install works the same way', async () => {
  const opened = await openProxied()
  const ran = await opened.sh(
    `/usr/bin/python3 -m pip install --quiet --disable-pip-version-check --target /tmp/lib --index-url http://${name}:${port}/simple/ --trusted-host ${name} right 2>&1; PYTHONPATH=/tmp/lib /usr/bin/python3 -c 'import right; print(right.answer)'`,
    60_000,
  )
  expect(ran.output).toMatch(/42\n$/)
}, 90_000)

test('curl, node and raw sockets: only the listed host and port, only through the proxy', async () => {
  seen = []
  forbiddenHits = 0
  const opened = await openProxied({ mounts: [{ source: dirname(process.execPath), target: '/opt/node', mode: 'ro' }] })
  const get = (args: string) =>
    `curl -s -m 10 -o /tmp/out -w '%{http_code} ' ${args}; { head -c 200 /tmp/out 2>/dev/null | tr -d '\\n'; }; rm -f /tmp/out; echo`
  const ran = await opened.sh(
    [
      get(`http://${name}:${port}/echo?a=1`),
      get(`-X POST -d body http://${name}:${port}/echo`),
      get(`http://other.test/`),
      get(`http://${name}:81/`),
      get(`http://127.0.0.1:${forbiddenPort}/ --noproxy ''`),
      get(`http://localhost:${forbiddenPort}/`),
      get(`http://private.test/`),
      get(`-H 'Host: other.test' http://${name}:${port}/echo`),
      get(`-L http://${name}:${port}/redirect --noproxy ''`),
      get(`--noproxy '*' http://${name}:${port}/`),
      get(`http://u:p@${name}:${port}/echo`),
      get(`https://${name}:443/`),
      `/opt/node/node -e 'fetch("http://${name}:${port}/echo/node").then(r => r.text()).then(console.log)' 2>&1 | tail -1`,
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo direct; getent hosts ${name} || echo unresolved`,
    ].join('\n'),
    60_000,
  )
  expect(
    ran.output
      .trim()
      .split('\n')
      .map(line => line.trim()),
  ).toEqual([
    '200 /echo?a=1',
    '200 /echo',
    '403 grokbot egress: not on the allow-list',
    '403 grokbot egress: not on the allow-list',
    '403 grokbot egress: not on the allow-list',
    expect.stringMatching(/^(403|502) grokbot egress: the name (resolves to a private address|does not resolve)$/),
    expect.stringMatching(/^502 grokbot egress: the name does not resolve$/),
    '403 grokbot egress: the Host header names another place',
    '403 grokbot egress: not on the allow-list',
    '000',
    '200 /echo',
    '000',
    '/echo/node',
    'unresolved',
  ])
  expect(forbiddenHits).toBe(0)
  expect(seen.every(({ host }) => host === `${name}:${port}`)).toBe(true)
  expect(seen.find(({ method }) => method === 'POST')?.body).toBe('body')
  expect(seen.some(({ headers }) => 'proxy-connection' in headers || 'proxy-authorization' in headers)).toBe(false)
}, 90_000)

/** Speaks to the proxy as a hostile client inside would: any bytes, over the relay. */
async function raw(opened: Opened, bytes: string): Promise<string> {
  const result = await opened.sandbox.run({
    argv: ['bash', '-c', 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; timeout 5 head -c 300 <&3'],
    stdin: Buffer.from(bytes, 'latin1'),
  })
  return result.kind === 'ended' ? (text(result.output).split('\r\n')[0] ?? '') : result.reason
}

test('C08: every trick with the address is refused, and nothing but refusals is in the log', async () => {
  seen = []
  forbiddenHits = 0
  const opened = await openProxied()
  const [ok, no] = [`${name}:${port}`, `127.0.0.1:${forbiddenPort}`]
  const get = (url: string, host: string) => raw(opened, `GET ${url} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const tunnel = (authority: string, host = authority) => raw(opened, `CONNECT ${authority} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const refusals = [
    get(`http://evil@${ok}/`, ok),
    get(`http://${ok}@${no}/`, ok),
    get(`http://${name}.evil.test:${port}/`, `${name}.evil.test:${port}`),
    get(`http://${name}.:${port}/`, ok),
    get(`http://Registry.test:${port}/`, ok),
    get(`http://${no}/`, ok),
    get(`http://${ok}/`, no),
    get(`http://0x7f.1:${forbiddenPort}/`, `0x7f.1:${forbiddenPort}`),
    get(`http://2130706433:${forbiddenPort}/`, `2130706433:${forbiddenPort}`),
    get(`http://[::ffff:127.0.0.1]:${forbiddenPort}/`, `[::ffff:127.0.0.1]:${forbiddenPort}`),
    get(`http://registr\xfdy.test:${port}/`, ok),
    get(`https://${ok}/`, ok),
    get(`/path-only`, ok),
    get(`http://${ok}\\@${no}/`, ok),
    raw(opened, `GET http://${ok}/ HTTP/1.1\r\nHost: ${ok}\r\nHost: ${no}\r\nConnection: close\r\n\r\n`),
    raw(
      opened,
      `GET http://${ok}/ HTTP/1.1\r\nHost: ${ok}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://${no}/`,
    ),
    raw(opened, `GET http://${ok}/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nHost: ${ok}\r\n\r\n`),
    raw(opened, `GET http://${ok}/ HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    tunnel(no),
    tunnel(ok, no),
    tunnel(`${name}:22`),
    tunnel(`${name}\0.evil:443`),
    tunnel(`evil.test:443`),
    tunnel(`localhost:${forbiddenPort}`),
  ]
  const answers = []
  for (const refusal of refusals) answers.push(await refusal)
  expect(answers.filter(answer => !/^HTTP\/1\.1 (400|403|431|501|502) /.test(answer))).toEqual([])
  // A tunnel to the listed host is opened, and ends when what comes first is neither TLS for that host nor a request to it.
  const inside = (first: string) => raw(opened, `CONNECT ${ok} HTTP/1.1\r\nHost: ${ok}\r\n\r\n${first}`)
  expect([
    await inside('SSH-2.0-x\r\n'),
    await inside(`GET / HTTP/1.1\r\nHost: ${no}\r\n\r\n`),
    await inside(`GET http://${no}/ HTTP/1.1\r\nHost: ${no}\r\n\r\n`),
  ]).toEqual(Array(3).fill('HTTP/1.1 200 Connection established'))
  expect([seen, forbiddenHits]).toEqual([[], 0])
  const log = opened.sandbox.egress()
  expect(log.every(({ verdict, host }) => verdict === 'refused' && /^[\x20-\x7e]*$/.test(host))).toBe(true)
  expect(log).toContainEqual({ host: name, port, verdict: 'refused', reason: 'the tunnel does not start with TLS for that host' })
}, 120_000)

test('red: a proxy that compares with endsWith and resolves again would have been fooled by the same address', () => {
  const fooled = (host: string) => host.endsWith(name)
  expect([`evil.test\0.${name}`, `evil-${name}`].map(fooled)).toEqual([true, true])
})

test('a tunnel carries TLS for the host it was asked for, and for no other', async () => {
  const opened = await openProxied()
  // A TCP server behind the name: what it receives shows what the proxy let through.
  const received: Buffer[] = []
  const server = createTcpServer(socket => socket.on('data', chunk => received.push(chunk)).on('error', () => {}))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const tlsPort = (server.address() as { port: number }).port
  await opened.sandbox.close()
  const tls = await openProxied({
    network: { kind: 'proxy', allow: [{ host: name, port: tlsPort }] },
    privateEgress: [{ host: name, port: tlsPort, address: '127.0.0.1' }],
  })
  await tls.sh(`curl -s -m 3 -k https://${name}:${tlsPort}/; true`, 20_000)
  const first = received.length
  await tls.sh(`curl -s -m 3 -k --connect-to other.test:${tlsPort}:${name}:${tlsPort} https://other.test:${tlsPort}/; true`, 20_000)
  server.close()
  expect([first > 0, received.length === first]).toEqual([true, true])
  expect(tls.sandbox.egress().map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual([
    'allowed: tunnel',
    'refused: the tunnel is for another server name',
  ])
}, 60_000)

test('the session’s proxy socket is for the relay alone, and gone when the session is closed', async () => {
  const opened = await openProxied()
  const listed = await opened.sh('find / -name "egress*" -not -path "/proc/*" 2>/dev/null; ls /engine 2>&1; env | grep -c 127.0.0.1:3128')
  expect(listed.output).toBe("ls: cannot access '/engine': No such file or directory\n6\n")
  const socket = readdirSync(opened.runDir)
    .filter(entry => entry.startsWith('sandbox-'))
    .map(entry => join(opened.runDir, entry, 'proxy', 'egress.sock'))[0] as string
  expect(existsSync(socket)).toBe(true)
  await opened.sandbox.close()
  const code = await new Promise(resolve => connect(socket).once('error', error => resolve((error as NodeJS.ErrnoException).code)))
  expect(['ENOENT', 'ECONNREFUSED']).toContain(code)
})

test('a run folder whose path is too long for a socket has its proxy all the same', async () => {
  const place = makePlace()
  const runDir = join(place.root, 'r'.repeat(120))
  mkdirSync(runDir, { mode: 0o700 })
  give(runDir)
  const opened = await open(
    { network: { kind: 'proxy', allow: [{ host: name, port }] }, privateEgress: [{ host: name, port, address: '127.0.0.1' }] },
    { ...place, runDir },
  )
  const ran = await opened.sh(`curl -s -m 10 http://${name}:${port}/echo/long`)
  expect(ran.output).toBe('/echo/long')
  await opened.sandbox.close()
  await opened.sandbox.close()
  expect(
    readdirSync(runDir)
      .flatMap(entry => readdirSync(join(runDir, entry)))
      .filter(entry => entry.endsWith('.sock')),
  ).toEqual([])
})

test('without the operator’s option the private registry is refused although it is on the allow-list', async () => {
  const place = makePlace()
  const opened = await open(
    {
      network: {
        kind: 'proxy',
        allow: [
          { host: 'localhost', port },
          { host: '127.0.0.1', port },
        ],
      },
    },
    place,
  )
  seen = []
  const ran = await opened.sh(`curl -s -m 10 http://localhost:${port}/echo; curl -s -m 10 http://127.0.0.1:${port}/echo`)
  expect([ran.output, seen]).toEqual(['grokbot egress: the name resolves to a private address\n'.repeat(2), []])
})

test('what a session sends out is bounded over all its requests, paths and headers included', async () => {
  seen = []
  const opened = await openProxied({ limits: { ...sandboxLimitDefaults, egressSentBytesMax: 20_000 } })
  const ran = await opened.sh(
    `for i in 1 2 3 4 5 6 7 8; do curl -s -m 5 -o /dev/null -w '%{http_code} ' http://${name}:${port}/echo?data=$(head -c 4000 /dev/zero | tr '\\0' x); done; head -c 100000 /dev/zero | curl -s -m 5 -X POST --data-binary @- http://${name}:${port}/echo`,
    60_000,
  )
  expect(ran.output).toMatch(/^200 200 200 200 403 403 403 403 /)
  expect(opened.sandbox.egress().at(-1)).toEqual({ host: name, port, verdict: 'refused', reason: 'the session has sent as much as it may' })
  expect(seen.reduce((sum, { url, body }) => sum + url.length + body.length, 0)).toBeLessThan(20_000)
}, 60_000)
