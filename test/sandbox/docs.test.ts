import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { profiles } from '../../sandbox/index.ts'

const text = readFileSync(join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8')
const sources = readdirSync(import.meta.dirname)
  .filter(name => name.endsWith('.test.ts') && name !== 'docs.test.ts')
  .map(name => readFileSync(join(import.meta.dirname, name), 'utf8'))
  .join('\n')

test('every hole of docs/sandbox.md is numbered and names a test that exists', () => {
  const rows = text
    .split('\n')
    .filter(line => /^\| \d+ \|/.test(line))
    .map(line => line.split('|').map(cell => cell.trim()))
  expect(rows.map(cells => Number(cells[1]))).toEqual(rows.map((_, index) => index + 1))
  const named = rows.flatMap(cells =>
    [...(cells[5] ?? '').matchAll(/`([^`]+)`/g)].map(([, title]) => title as string).filter(title => !title.startsWith('/')),
  )
  expect(named.length).toBeGreaterThan(25)
  expect(named.filter(title => !sources.includes(title))).toEqual([])
  expect(rows.filter(cells => !['both', 'slots / single'].includes(cells[4] ?? ''))).toEqual([])
})

test('every profile has its row, and every test file that is named exists', () => {
  expect(profiles.filter(({ name }) => !text.includes(`| \`${name}\` |`))).toEqual([])
  const files = [...text.matchAll(/`([a-z-]+\.test\.ts)`/g)].map(([, name]) => name as string)
  expect(files.filter(name => !readdirSync(import.meta.dirname).includes(name))).toEqual([])
})
