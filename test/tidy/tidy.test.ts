import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { importRules, readImportTable } from '../../tools/import-rules.ts'
import { exceptions, settled, tidyRules } from './tidy-rules.ts'

const root = path.resolve(import.meta.dirname, '../..')
const { stdout } = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
const files = stdout
  .split('\0')
  .filter(name => name.endsWith('.ts') && !name.includes('/fixtures/') && !name.startsWith('test/tidy/'))
  .flatMap(name => {
    try {
      return [{ path: name, text: readFileSync(path.join(root, name), 'utf8') }]
    } catch {
      // Deleted but still in the index.
      return []
    }
  })

describe.each(tidyRules)('$name', rule => {
  test('in every file', () => {
    const found = files.filter(file => rule.applies(file.path) && rule.finds(file) && !exceptions[`${rule.name}|${file.path}`])
    expect(found.map(file => file.path)).toEqual([])
  })
  test('and a planted violation is found', () => {
    expect(rule.applies(rule.planted.path) && rule.finds(rule.planted)).toBe(true)
  })
})

describe('the words', () => {
  const words = readFileSync(path.join(root, 'docs/words.md'), 'utf8').matchAll(/^\| ([^|]+) \|/gm)
  const known = new Set([...words].flatMap(([, cell = '']) => cell.toLowerCase().split(/[^a-z]+/)))
  const isNamed = (name: string) => name.split(/[-.]/).some(word => known.has(word) || known.has(word.replace(/s$/, '')))
  test('every file of domain/ is named by one of docs/words.md', () => {
    const names = files.map(file => path.parse(file.path)).filter(({ dir, name }) => dir === 'domain' && !/^(?:index|limits)$/.test(name))
    expect(names.filter(({ name }) => !isNamed(name)).map(({ base }) => base)).toEqual([])
  })
  test('and one that is not is found', () => expect(isNamed('frobnicate-widgets')).toBe(false))
})

test('a function of more than 70 lines is found by the linter', async () => {
  const text = (lines: number) => `export function long(): number {\n${'  const a = 1\n'.repeat(lines)}  return 0\n}\n`
  expect(await lint('app/x.ts', text(71))).toContain('noExcessiveLinesPerFunction')
  expect(await lint('app/x.ts', text(60))).not.toContain('noExcessiveLinesPerFunction')
})

describe('the import table of ARCHITECTURE.md', () => {
  const rows = readImportTable(readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8'))
  const planted = [
    ['an import that the table forbids', 'agent/x.ts', "import { a } from '../github/index.ts'\nexport const b = a\n"],
    ['an import past a door', 'worker/deep/x.ts', "import { a } from '../../git/run-git.ts'\nexport const b = a\n"],
    ['a package of another folder', 'app/x.ts', "import { Octokit } from '@octokit/rest'\nexport const b = Octokit\n"],
    ['a database driver outside the ledger', 'worker/x.ts', "import Database from 'better-sqlite3'\nexport const b = Database\n"],
    ['a test imported by the product', 'cli/x.ts', "import { a } from '../test/x.ts'\nexport const b = a\n"],
  ] as const

  test('is what biome.json enforces', () => {
    const biome = JSON.parse(readFileSync(path.join(root, 'biome.json'), 'utf8')) as { overrides: unknown[] }
    expect(biome.overrides).toEqual(expect.arrayContaining(importRules(rows)))
  })
  test.each(planted)('%s is found by the linter', async (_, file, text) => {
    expect(await lint(file, text)).toContain('noRestrictedImports')
  })
  test('and what it allows passes', async () => {
    expect(await lint('worker/x.ts', "import { a } from '../git/index.ts'\n\nexport const b = a\n")).not.toContain('noRestrictedImports')
  })
})

/** Runs the project's own linter settings on one file in an empty folder. */
async function lint(file: string, text: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidy-'))
  try {
    const settings = JSON.parse(readFileSync(path.join(root, 'biome.json'), 'utf8'))
    writeFileSync(path.join(folder, 'biome.json'), JSON.stringify({ ...settings, $schema: undefined, vcs: undefined }))
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true })
    writeFileSync(path.join(folder, file), text)
    cpSync(path.join(root, 'tsconfig.json'), path.join(folder, 'tsconfig.json'))
    const result = await execa(path.join(root, 'node_modules/.bin/biome'), ['lint', file], { cwd: folder, reject: false, all: true })
    return result.all ?? ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('every hazard and attack that is settled has a test that is named after it', () => {
  const named = new Set(files.filter(({ path }) => path.startsWith('test/')).flatMap(({ text }) => text.match(/\b[A-FQ]\d\d\b/g) ?? []))
  expect(settled.filter(id => !named.has(id))).toEqual([])
})

test('every link of a document to another file leads somewhere', async () => {
  const documents = (await execa('git', ['ls-files', '*.md', 'docs/*.md', 'docs/adr/*.md'], { cwd: root })).stdout
    .split('\n')
    .filter(name => !name.startsWith('test/') && !name.startsWith('prompts/'))
  const dead = documents.flatMap(name =>
    [...readFileSync(path.join(root, name), 'utf8').matchAll(/\]\(([^)\s#:]+)(?:#[^)\s]*)?\)/g)]
      .filter(([, to = '']) => !existsSync(path.join(root, path.dirname(name), to)))
      .map(([, to]) => `${name}: ${to}`),
  )
  expect(documents.length).toBeGreaterThan(20)
  expect(dead).toEqual([])
})
