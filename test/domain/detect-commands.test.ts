import { describe, expect, it } from 'vitest'
import { detectCommands } from '../../domain/index.ts'

const npm = { ecosystem: 'npm', hosts: ['registry.npmjs.org:443'] }
const python = { ecosystem: 'python', hosts: ['pypi.org:443', 'files.pythonhosted.org:443'] }
const go = { ecosystem: 'go', hosts: ['proxy.golang.org:443', 'sum.golang.org:443'] }
const make = { ecosystem: 'make', hosts: [] }

/** Files at the root: a text, or null for a folder or a file nobody reads. */
function detect(files: Record<string, string | null>) {
  return detectCommands({ names: new Set(Object.keys(files)), read: name => files[name] ?? null })
}

describe('detection', () => {
  const script = (test: string, more: object = {}) => JSON.stringify({ scripts: { test }, ...more })
  it.each<[string, Record<string, string | null>, object | null]>([
    ['npm with a test', { 'package.json': script('node --test') }, { ...npm, setup: [], checks: ['npm test'] }],
    [
      'npm with a lock',
      { 'package.json': script('vitest'), 'package-lock.json': null },
      { ...npm, setup: ['npm ci'], checks: ['npm test'] },
    ],
    [
      'npm with a shrinkwrap',
      { 'package.json': script('vitest'), 'npm-shrinkwrap.json': null },
      { ...npm, setup: ['npm ci'], checks: ['npm test'] },
    ],
    [
      'npm with dependencies and no lock',
      { 'package.json': script('vitest', { devDependencies: { vitest: '1' } }) },
      { ...npm, setup: ['npm install --no-package-lock'], checks: ['npm test'] },
    ],
    [
      'npm with an empty list of dependencies',
      { 'package.json': script('node --test', { dependencies: {} }) },
      { ...npm, setup: [], checks: ['npm test'] },
    ],
    [
      'npm with the placeholder that always fails',
      { 'package.json': script('echo "Error: no test specified" && exit 1') },
      { ...npm, setup: [], checks: [] },
    ],
    ['npm without scripts', { 'package.json': '{}' }, { ...npm, setup: [], checks: [] }],
    ['npm with an empty test', { 'package.json': script('') }, { ...npm, setup: [], checks: [] }],
    ['npm with a byte order mark', { 'package.json': `\ufeff${script('node --test')}` }, { ...npm, setup: [], checks: ['npm test'] }],
    ['a manifest that is no JSON', { 'package.json': '{"scripts":' }, null],
    ['a manifest that is a list', { 'package.json': '["scripts"]' }, { ...npm, setup: [], checks: [] }],
    ['a manifest that is null', { 'package.json': 'null' }, null],
    ['scripts of another type', { 'package.json': '{"scripts":"test"}' }, { ...npm, setup: [], checks: [] }],
    ['a test of another type', { 'package.json': '{"scripts":{"test":["a"]}}' }, { ...npm, setup: [], checks: [] }],
    ['pytest by its own file', { 'pytest.ini': null }, { ...python, setup: [], checks: ['python3 -m pytest -q'] }],
    [
      'pytest in pyproject.toml',
      { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
      { ...python, setup: [], checks: ['python3 -m pytest -q'] },
    ],
    ['pytest in setup.cfg', { 'setup.cfg': '[tool:pytest]\n' }, { ...python, setup: [], checks: ['python3 -m pytest -q'] }],
    [
      'python with a folder of tests',
      { 'pyproject.toml': '[project]\n', tests: null },
      { ...python, setup: [], checks: ['python3 -m pytest -q'] },
    ],
    ['python with tests at the root', { 'test_a.py': null }, { ...python, setup: [], checks: ['python3 -m pytest -q'] }],
    [
      'python with requirements',
      { 'requirements.txt': null, test: null },
      {
        ...python,
        setup: ['PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --user -r requirements.txt'],
        checks: ['python3 -m pytest -q'],
      },
    ],
    ['python without tests', { 'setup.py': null }, { ...python, setup: [], checks: [] }],
    ['a folder of tests in no language', { tests: null }, null],
    ['go', { 'go.mod': null }, { ...go, setup: [], checks: ['go test -v ./...'] }],
    ['go with modules', { 'go.mod': null, 'go.sum': null }, { ...go, setup: ['go mod download'], checks: ['go test -v ./...'] }],
    ['make test', { Makefile: 'all:\n\tcc a.c\ntest: all\n\t./a\n' }, { ...make, setup: [], checks: ['make test'] }],
    ['make check', { makefile: 'check:\n\t./a\n' }, { ...make, setup: [], checks: ['make check'] }],
    ['make test before make check', { Makefile: 'check:\n\t./a\ntest:\n\t./b\n' }, { ...make, setup: [], checks: ['make test'] }],
    ['make with several targets in one rule', { Makefile: 'all test: a.o\n\t./a\n' }, { ...make, setup: [], checks: ['make test'] }],
    ['make with a double colon', { Makefile: 'test::\n\t./a\n' }, { ...make, setup: [], checks: ['make test'] }],
    [
      'the makefile that make itself takes',
      { GNUmakefile: 'check:\n\t./a\n', Makefile: 'test:\n\t./a\n' },
      { ...make, setup: [], checks: ['make check'] },
    ],
    ['a variable is no target', { Makefile: 'test := a\ncheck ::= b\ntest = c\n' }, null],
    ['a phony list is no target', { Makefile: '.PHONY: test check\n' }, null],
    ['a target that only begins so', { Makefile: 'tests:\n\t./a\ntest-all:\n\t./a\n' }, null],
    ['a recipe is no target', { Makefile: 'all:\n\ttest: a\n' }, null],
    ['nothing', { 'README.md': null }, null],
    ['an empty repository', {}, null],
  ])('of %s', (_, files, found) => {
    expect(detect(files)).toEqual(found)
  })
  it('takes the first ecosystem that has a check', () => {
    expect(detect({ 'package.json': '{}', 'go.mod': null })).toMatchObject({ ecosystem: 'go' })
    expect(detect({ 'package.json': script('node --test'), 'go.mod': null })).toMatchObject({ ecosystem: 'npm' })
  })
  it('takes the first that matched when none has a check', () => {
    expect(detect({ 'package.json': '{}', 'setup.py': null })).toMatchObject({ ecosystem: 'npm', checks: [] })
  })
})
