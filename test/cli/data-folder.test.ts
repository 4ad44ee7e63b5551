import { chmodSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { makeDataFolder } from '../../cli/data-folder.ts'
import { UsageError } from '../../cli/exit.ts'

test.each(['/proc/1/x/y', '/proc/self/x', '/dev/null/x', '/etc/passwd/a/b'])(
  '%s can be no data folder, and that is said at once',
  folder => {
    expect(() => makeDataFolder(folder)).toThrow(UsageError)
  },
)

test('a data folder is made with all above it, passable and not listable', () => {
  const above = mkdtempSync(path.join(tmpdir(), 'data-folder-'))
  chmodSync(above, 0o711)
  const mask = process.umask(0o077)
  const made = makeDataFolder(path.join(above, 'a', 'b'))
  process.umask(mask)
  expect([path.join(above, 'a'), made].map(folder => statSync(folder).mode & 0o777)).toEqual([0o711, 0o711])
  expect(makeDataFolder(made)).toBe(made)
})
