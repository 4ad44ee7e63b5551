import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { provideSharedFiles } from '../../sandbox/shared-files.ts'

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'grokbot-shared-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'sandbox')
}

test('are made once and found again', () => {
  const folder = makeFolder()
  const first = provideSharedFiles(folder, 'x86_64')
  const made = statSync(first.etc).ino
  expect(provideSharedFiles(folder, 'x86_64')).toEqual(first)
  expect([statSync(first.etc).ino, readdirSync(folder).length]).toEqual([made, 3])
  expect(readFileSync(join(first.etc, 'passwd'), 'utf8')).toContain('agent:x:1000:1000:')
})

test('are made again when what lies there is not what was made, as after a power cut', () => {
  const folder = makeFolder()
  const files = provideSharedFiles(folder, 'x86_64')
  const filter = readFileSync(files.seccomp.commands)
  const passwd = readFileSync(join(files.etc, 'passwd'), 'utf8')
  const damages = [
    () => rmSync(files.seccomp.commands),
    () => rmSync(join(files.etc, 'passwd')),
    () => truncateSync(join(files.etc, 'passwd')),
    () => writeFileSync(join(files.etc, 'npmrc'), '//registry/:_authToken=x'),
  ]
  for (const damage of damages) {
    damage()
    expect(provideSharedFiles(folder, 'x86_64')).toEqual(files)
    expect(readFileSync(files.seccomp.commands)).toEqual(filter)
    expect([readFileSync(join(files.etc, 'passwd'), 'utf8'), readdirSync(files.etc).includes('npmrc')]).toEqual([passwd, false])
    expect(readdirSync(folder)).toHaveLength(3)
  }
})
