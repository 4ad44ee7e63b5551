import { describe, expect, test } from 'vitest'
import { type ChangedFile, findProtected } from '../../domain/index.ts'
import { protectedTable } from '../../domain/protected-paths.ts'

function changed(path: string, more: Partial<ChangedFile> = {}): ChangedFile {
  return { path, status: 'modified', from: null, mode: '100644', added: 1, removed: 1, notes: [], ...more }
}

const secrets = 'runs with the repository’s secrets'
const owners = 'decides who must review'
const shows = 'changes how git shows or fetches files'
const agents = 'steers agents'
const pins = 'pins what is installed, and setup did not write it'

test.each([
  ['.github/workflows/ci.yml', secrets],
  ['.GitHub/Workflows/x.yml', secrets],
  ['.github', secrets],
  ['.github/dependabot.yml', secrets],
  ['.github/workflows/a\nb.yml', secrets],
  ['.gıthub/workflows/x.yml', secrets],
  ['.githuB/workflows/x.yml', secrets],
  ['.g\u200cithub/workflows/x.yml', secrets],
  ['.github./workflows/x.yml', secrets],
  ['.github /workflows/x.yml', secrets],
  ['.github\\workflows\\x.yml', secrets],
  ['.github/workflows::$INDEX_ALLOCATION/x.yml', secrets],
  ['action.yml', secrets],
  ['tools/deploy/Action.YAML', secrets],
  ['.gitlab-ci.yml', secrets],
  ['.circleci/config.yml', secrets],
  ['Jenkinsfile', secrets],
  ['renovate.json', secrets],
  ['CODEOWNERS', owners],
  ['docs/CodeOwners', owners],
  ['.github/CODEOWNERS', secrets],
  ['.gitattributes', shows],
  ['deep/in/.gitattributes', shows],
  ['.gitattribute\u017f', shows],
  ['.gitmodules', shows],
  ['.mailmap', shows],
  ['.git-blame-ignore-revs', shows],
  ['.lfsconfig', shows],
  ['.grok/hooks/x.json', agents],
  ['.grok', agents],
  ['AGENTS.md', agents],
  ['pkg/agents.md', agents],
  ['CLAUDE.md', agents],
  ['pkg/.cursor/rules/x.mdc', agents],
  ['.mcp.json', agents],
  ['package-lock.json', pins],
  ['web/pnpm-lock.yaml', pins],
  ['Cargo.lock', pins],
  ['go.sum', pins],
])('%j is never part of a change', (path, reason) => {
  expect(findProtected([changed(path)], { extra: [] })).toEqual([{ path, from: null, reason }])
})

test.each([
  ['src/index.js'],
  ['github/workflows/x.yml'],
  ['src/.github/workflows/x.yml'],
  ['docs/owners'],
  ['src/CODEOWNERS'],
  ['.gitignore'],
  ['docs/agents.md.txt'],
  ['actions.yml'],
  ['package.json'],
  ['lock.json'],
  ['.githubx/y'],
  ['mailmap'],
  ['sub/.mailmap'],
])('%j may be', path => {
  expect(findProtected([changed(path)], { extra: [] })).toEqual([])
})

test('both sides of a rename count, and a deletion', () => {
  const files = [
    changed('docs/old.yml', { status: 'renamed', from: '.github/workflows/ci.yml' }),
    changed('.github/workflows/new.yml', { status: 'renamed', from: 'docs/new.yml' }),
    changed('CODEOWNERS', { status: 'deleted' }),
    changed('src/b.js', { status: 'renamed', from: 'src/a.js' }),
  ]
  expect(findProtected(files, { extra: [] })).toEqual([
    { path: 'docs/old.yml', from: '.github/workflows/ci.yml', reason: secrets },
    { path: '.github/workflows/new.yml', from: 'docs/new.yml', reason: secrets },
    { path: 'CODEOWNERS', from: null, reason: owners },
  ])
})

test('a lockfile that setup wrote may be in a change, another may not', () => {
  const files = [changed('package-lock.json'), changed('web/yarn.lock'), changed('.github/x')]
  expect(findProtected(files, { extra: [], madeBySetup: ['package-lock.json', '.github/x'] }).map(({ path }) => path)).toEqual([
    'web/yarn.lock',
    '.github/x',
  ])
})

test('what a protected name points to is protected as well, over chains and folders, and a loop ends', () => {
  const links = [
    { path: '.github', target: 'ci' },
    { path: 'ci/workflows', target: '../pipelines/all' },
    { path: 'docs', target: './documentation' },
    { path: 'AGENTS.md', target: 'notes/ai.txt' },
    { path: 'CODEOWNERS', target: '/etc/owners' },
    { path: '.mailmap', target: 'loop' },
    { path: 'loop', target: '.mailmap' },
    { path: 'free', target: 'src' },
  ]
  const reasons = (paths: string[]) =>
    Object.fromEntries(
      findProtected(
        paths.map(path => changed(path)),
        { extra: [], links },
      ).map(({ path, reason }) => [path, reason]),
    )
  expect(
    reasons([
      'ci/x',
      'CI/workflows',
      'pipelines/all/deploy.yml',
      'documentation/CODEOWNERS',
      'documentation/guide.md',
      'notes/ai.txt',
      'loop',
      'src/a',
      'etc/owners',
    ]),
  ).toEqual({
    'ci/x': secrets,
    'CI/workflows': secrets,
    'pipelines/all/deploy.yml': secrets,
    'notes/ai.txt': agents,
    'documentation/CODEOWNERS': owners,
    loop: shows,
  })
})

test('the repository’s own globs only add, without case, dots hidden or not, and can negate nothing', () => {
  const paths = ['Infra/prod.tf', 'infra/.hidden/x', 'src/a.js', 'infra/new\nline', '.github/x']
  const found = (extra: string[]) =>
    findProtected(
      paths.map(path => changed(path)),
      { extra },
    ).map(({ path }) => path)
  expect(found(['infra/**'])).toEqual(['Infra/prod.tf', 'infra/.hidden/x', 'infra/new\nline', '.github/x'])
  expect(found(['!**'])).toEqual(['.github/x'])
  expect(found([])).toEqual(['.github/x'])
})

test('a path in Git LFS is not edited as a file', () => {
  expect(findProtected([changed('art/logo.psd', { notes: ['binary', 'Git LFS'] })], { extra: [] })).toEqual([
    { path: 'art/logo.psd', from: null, reason: 'kept in Git LFS' },
  ])
})

test('every row of the table protects its own name, and the one below it, where it says', () => {
  const missed = protectedTable.flatMap(row =>
    row.patterns.flatMap(pattern => {
      const name = pattern.replace(/^\*\*\/|\/$/g, '')
      const places = pattern.startsWith('**/') ? [name, `a/b/${name}`, `${name}/x`] : [name, `${name}/x`]
      return places.filter(path => findProtected([changed(path)], { extra: [] }).length === 0)
    }),
  )
  expect(missed).toEqual([])
})

describe('symbolic links that a change adds to hide where a protected name leads', () => {
  const base = [
    { path: '.github/workflows', target: '../ci' },
    { path: 'CLAUDE.md', target: 'notes/ai.md' },
  ]
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ path: `.github/l${at}`, target: `../x/${at}` }))
  const foundAmong = (links: { path: string; target: string }[]) =>
    findProtected(
      ['ci/evil.yml', 'notes/ai.md', 'src/a.js'].map(path => changed(path)),
      { extra: [], links },
    ).map(({ path }) => path)

  test.each([500, 1_100, 12_000])('%i of them hide nothing', { timeout: 5_000 }, count => {
    expect([foundAmong([...base, ...many(count)]), foundAmong([...many(count), ...base])]).toEqual([
      ['ci/evil.yml', 'notes/ai.md'],
      ['ci/evil.yml', 'notes/ai.md'],
    ])
  })

  test('more than are followed refuse the whole change, and the reason says why', { timeout: 10_000 }, () => {
    const reason = 'symbolic links lead on from protected names further than is followed (linkedPartsMax 200000)'
    expect(findProtected([changed('src/a.js', { from: 'src/b.js' })], { extra: [], links: [...base, ...many(70_000)] })).toEqual([
      { path: 'src/a.js', from: 'src/b.js', reason },
    ])
  })

  test('as many of them elsewhere refuse nothing', { timeout: 20_000 }, () => {
    const links = Array.from({ length: 50_000 }, (_, at) => ({ path: `node_modules/.bin/l${at}`, target: `../x${at}/cli.js` }))
    expect(foundAmong([...links, ...base])).toEqual(['ci/evil.yml', 'notes/ai.md'])
  })

  test('one that grows with each turn, and chains in each other, end at the limit in time', { timeout: 5_000 }, () => {
    expect(foundAmong([...base, { path: '.github/a', target: '../b/c' }, { path: 'b', target: 'b/b' }])).toEqual([
      'ci/evil.yml',
      'notes/ai.md',
      'src/a.js',
    ])
    const deep = Array.from({ length: 500 }, (_, at) => ({
      path: `${'d/'.repeat(at + 1)}l`,
      target: `${'../'.repeat(at + 2)}${'d/'.repeat(500 - at)}x`,
    }))
    expect(foundAmong([{ path: 'docs/codeowners', target: `../${'d/'.repeat(500)}l` }, ...deep, ...base]).slice(0, 2)).toEqual([
      'ci/evil.yml',
      'notes/ai.md',
    ])
  })

  test('one to the root makes every path one behind a protected name', () => {
    expect(foundAmong([{ path: '.claude', target: '.' }])).toEqual(['ci/evil.yml', 'notes/ai.md', 'src/a.js'])
    expect(foundAmong([{ path: '.github/self', target: '..' }])).toEqual(['ci/evil.yml', 'notes/ai.md', 'src/a.js'])
    expect(foundAmong([{ path: 'docs', target: '.' }])).toEqual([])
  })
})

test('a name of many blanks is read in time', { timeout: 2_000 }, () => {
  expect(findProtected([changed(`${' '.repeat(200_000)}x`)], { extra: [] })).toEqual([])
})
