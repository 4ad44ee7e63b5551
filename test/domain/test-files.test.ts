import { describe, expect, it } from 'vitest'
import { decidesChecks, startsChecks } from '../../domain/index.ts'

const tests = [
  'test/a.js',
  'tests/a.py',
  'src/__tests__/a.ts',
  'spec/a_spec.rb',
  'pkg/specs/a.js',
  'e2e/a.ts',
  'a/testdata/in.txt',
  'a/fixtures/in.json',
  'a.test.js',
  'src/a.spec.tsx',
  'a.test.mjs',
  'a.test.cts',
  'test_a.py',
  'src/test_a.py',
  'a_test.py',
  'pkg/a_test.go',
  'a_test.c',
  'a_test.cpp',
  'conftest.py',
  'a/conftest.py',
  'pytest.ini',
  'tox.ini',
  'noxfile.py',
  'vitest.config.ts',
  'vite.config.mts',
  'jest.config.cjs',
  'playwright.config.ts',
  '.mocharc',
  '.mocharc.json',
  'TEST/A.JS',
  'Tests/A.cs',
  'CONFTEST.PY',
]
const starters = [
  'package.json',
  'a/package.json',
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  '.npmrc',
  'Makefile',
  'makefile',
  'GNUmakefile',
  'rules.mk',
  'pyproject.toml',
  'setup.cfg',
  'setup.py',
  'requirements.txt',
  'requirements-dev.txt',
  'poetry.lock',
  'Pipfile',
  'Pipfile.lock',
  'go.mod',
  'go.sum',
  'CMakeLists.txt',
  'Cargo.toml',
  'Cargo.lock',
  'PACKAGE.JSON',
]
const neither = [
  'src/a.js',
  'latest/a.js',
  'contest/a.py',
  'attest.py',
  'a.testing.js',
  'src/protest.go',
  'testify.go',
  'inspect/a.js',
  'package.json.bak',
  'my-package.json5',
  'docs/test.md',
  'src/test.js',
  'spec.js',
  'makefile.txt',
  'README.md',
  '',
  'go.mod.old',
  'e2e.md',
  'fixture.js',
]

describe('a file that decides what a check proves', () => {
  it.each(tests)('%s is one', path => {
    expect([decidesChecks(path), startsChecks(path)]).toEqual([true, false])
  })
  it.each(starters)('%s is one, and starts the check', path => {
    expect([decidesChecks(path), startsChecks(path)]).toEqual([true, true])
  })
  it.each(neither)('%j is none', path => {
    expect([decidesChecks(path), startsChecks(path)]).toEqual([false, false])
  })
})
