import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A registry on 127.0.0.1 with one npm package, `left`, and one Python wheel, `right`: each gives 42. */
export type Registry = { port: number; url: string; integrity: string; urls(): string[]; close(): void }

export async function startRegistry(): Promise<Registry> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-registry-'))
  const tarball = packNpm(folder)
  const wheel = packWheel(folder)
  const seen: string[] = []
  const answers: Record<string, { type: string; body: () => Buffer | string }> = {
    '/left-1.0.0.tgz': { type: 'application/octet-stream', body: () => tarball },
    '/simple/right/': { type: 'text/html', body: () => '<a href="/right-1.0.0-py3-none-any.whl">right-1.0.0-py3-none-any.whl</a>' },
    '/right-1.0.0-py3-none-any.whl': { type: 'application/octet-stream', body: () => wheel },
  }
  const server = createServer((request, response) => {
    const url = request.url ?? ''
    seen.push(url)
    const answer = answers[url]
    if (answer) response.writeHead(200, { 'content-type': answer.type }).end(answer.body())
    else response.writeHead(404).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    urls: () => [...seen],
    close() {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function packNpm(folder: string): Buffer {
  mkdirSync(path.join(folder, 'package'))
  writeFileSync(path.join(folder, 'package/package.json'), JSON.stringify({ name: 'left', version: '1.0.0', main: 'index.js' }))
  writeFileSync(path.join(folder, 'package/index.js'), 'module.exports = 42\n')
  execFileSync('tar', ['-czf', 'left.tgz', 'package'], { cwd: folder })
  return readFileSync(path.join(folder, 'left.tgz'))
}

function packWheel(folder: string): Buffer {
  const info = 'right-1.0.0.dist-info'
  mkdirSync(path.join(folder, info))
  const files = {
    'right.py': 'answer = 42\n',
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: right\nVersion: 1.0.0\n',
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `right.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content)
  execFileSync('/usr/bin/python3', ['-m', 'zipfile', '-c', 'right.whl', 'right.py', info], { cwd: folder })
  return readFileSync(path.join(folder, 'right.whl'))
}
