import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readTestCounts } from '../../domain/index.ts'

/** What real runners printed, as they printed it; the file's name says which, and only folder names were changed. */
const folder = path.join(import.meta.dirname, 'fixtures/runner-output')
const counts = (passed: number, failed: number, skipped: number) => ({ passed, failed, skipped })

const expected = {
  // A test prints a line that looks like another package's.
  'go-1.19-plain.txt': counts(2, 1, 1),
  'go-1.19-plain-cached.txt': counts(2, 0, 0),
  'go-1.19-verbose.txt': counts(3, 2, 1),
  'go-1.19-verbose-build-failed.txt': counts(3, 2, 1),
  'go-1.19-verbose-ok.txt': counts(1, 0, 0),
  'go-1.19-verbose-panic.txt': counts(1, 1, 0),
  'make-test.txt': counts(3, 2, 0),
  'make-test-ok.txt': counts(3, 0, 1),
  // Six tests each: a todo counts as one that was skipped, and a test prints "pass 100".
  'node-20-npm-test.txt': counts(3, 1, 2),
  'node-20-tap.txt': counts(3, 1, 2),
  'node-24-npm-test.txt': counts(3, 1, 2),
  'node-24-tap.txt': counts(3, 1, 2),
  'pytest-7-import-error.txt': counts(0, 1, 0),
  'pytest-7-quiet.txt': counts(4, 2, 1),
  'pytest-7-selected.txt': counts(3, 0, 0),
  'pytest-7-verbose.txt': counts(4, 2, 1),
  'unittest-3.11.txt': counts(2, 2, 1),
  'unittest-3.11-ok.txt': counts(1, 0, 0),
}

it.each(Object.entries(expected))('the counts in %s', (file, found) => {
  expect(readTestCounts(readFileSync(path.join(folder, file), 'utf8'))).toEqual(found)
})

it('every recorded output is in the table', () => {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(expected).sort())
})
