import { expect, test } from 'vitest'
import { type ChangedFile, findProtected } from '../../domain/index.ts'

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
