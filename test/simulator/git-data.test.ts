import { join } from 'node:path'
import type { Octokit } from '@octokit/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { git, mint, octokit, outcome, useSimulator } from './fixture.ts'

const fixture = useSimulator()
const hello = { owner: 'octo', repo: 'hello' }
const repo = 'octo/hello'
let octo: Octokit
let clone: string
let base: string

beforeAll(async () => {
  const { github, scratch } = fixture
  octo = octokit(github, await mint(github, 'octo'))
  base = await github.commit({
    repo,
    branch: 'trunk',
    files: { 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'dir/c.txt': 'c\n', 'tool.sh': { content: '#!/bin/sh\n', mode: '100755' } },
  })
  clone = join(scratch, 'clone')
  await git(scratch, ['clone', '-q', github.gitUrl('octo', 'hello'), clone])
})

type Entry = { path: string; mode: string; type?: string; sha?: string | null; content?: string }
const createTree = (tree: Entry[], base_tree: string | undefined = base) =>
  outcome(octo.request('POST /repos/octo/hello/git/trees', { tree, ...(base_tree === '' ? {} : { base_tree }) } as never))
const makeTree = async (tree: Entry[], base_tree?: string) => ((await createTree(tree, base_tree)).data as { sha: string }).sha

const trees = new Map<string, Promise<string>>()

/** A commit on trunk through the API, with these files. */
async function commitFiles(files: Record<string, string>, more: object = {}, as = octo): Promise<string> {
  const key = JSON.stringify(files)
  const made = trees.get(key) ?? makeTree(Object.entries(files).map(([path, content]) => ({ path, mode: '100644', content })))
  trees.set(key, made)
  const tree = await made
  return (await as.rest.git.createCommit({ ...hello, message: 'Change', tree, parents: [base], ...more })).data.sha
}

async function listing(sha: string): Promise<string[]> {
  const { data } = await octo.rest.git.getTree({ ...hello, tree_sha: sha, recursive: 'true' })
  return data.tree.filter(each => each.type !== 'tree').map(each => `${each.mode} ${each.path}`)
}

describe('objects', () => {
  test('a blob is made of text and of bytes, and read back', async () => {
    const bytes = Buffer.from([0, 255, 10, 195])
    const { data } = await octo.rest.git.createBlob({ ...hello, content: bytes.toString('base64'), encoding: 'base64' })
    const read = await octo.rest.git.getBlob({ ...hello, file_sha: data.sha })
    expect(read.data).toMatchObject({ sha: data.sha, size: 4, encoding: 'base64', content: 'AP8Kww==' })
    expect((await octo.rest.git.createBlob({ ...hello, content: 'a\n' })).data.sha).toBe('78981922613b2afb6025042ff6bd878ac1994e85')
    expect((await outcome(octo.rest.git.getBlob({ ...hello, file_sha: base }))).status).toBe(404)
  })

  test('a tree is put on another: files, links, submodules, whole folders, and what is taken away', async () => {
    const { data: blob } = await octo.rest.git.createBlob({ ...hello, content: 'x' })
    const folder = await makeTree([{ path: 'in/side.txt', mode: '100644', content: 's' }], '')
    const sha = await makeTree([
      { path: 'a.txt', mode: '100644', type: 'blob', sha: null },
      { path: 'run.sh', mode: '100755', type: 'blob', sha: blob.sha },
      { path: 'link', mode: '120000', type: 'blob', content: 'run.sh' },
      { path: 'module', mode: '160000', type: 'commit', sha: '1'.repeat(40) },
      { path: 'dir', mode: '040000', type: 'tree', sha: folder },
    ])
    expect(await listing(sha)).toEqual([
      '100644 README.md',
      '100644 dir/in/side.txt',
      '120000 link',
      '160000 module',
      '100755 run.sh',
      '100755 tool.sh',
    ])
    const { data: flat } = await octo.rest.git.getTree({ ...hello, tree_sha: sha })
    expect(flat).toMatchObject({ sha, truncated: false })
    expect(flat.tree.map(each => each.path)).toEqual(['README.md', 'dir', 'link', 'module', 'run.sh', 'tool.sh'])
  })

  test.each<[string, Entry[], string | undefined, string]>([
    [
      'a path out of the repository',
      [{ path: '../x', mode: '100644', content: 'x' }],
      undefined,
      'tree.path contains a malformed path component',
    ],
    [
      'a path into .git',
      [{ path: '.GIT/config', mode: '100644', content: 'x' }],
      undefined,
      'tree.path contains a malformed path component',
    ],
    ['an absolute path', [{ path: '/x', mode: '100644', content: 'x' }], undefined, 'tree.path contains a malformed path component'],
    ['a blob of nobody', [{ path: 'x', mode: '100644', sha: '2'.repeat(40) }], undefined, `tree.sha ${'2'.repeat(40)} is not a valid blob`],
    ['neither content nor object', [{ path: 'x', mode: '100644' }], undefined, 'Must supply either tree.sha or tree.content'],
    ['taking away what is not there', [{ path: 'nowhere', mode: '100644', sha: null }], undefined, 'GitRPC::BadObjectState'],
    ['a base that is no tree', [{ path: 'x', mode: '100644', content: 'x' }], '3'.repeat(40), 'base_tree is not a valid tree oid'],
    ['nothing', [], undefined, 'Invalid tree info'],
  ])('a tree of %s is 422', async (_, tree, on, message) => {
    expect(await createTree(tree, on)).toMatchObject({ status: 422, data: { message } })
  })

  test('what an App commits in no other name is signed by GitHub; with an author or a signature of its own it is not', async () => {
    const sha = await commitFiles({ 'new.txt': 'n\n' })
    const read = async (commit_sha: string) => (await octo.rest.git.getCommit({ ...hello, commit_sha })).data
    expect(await read(sha)).toMatchObject({
      message: 'Change',
      author: { name: 'grokbot[bot]', email: expect.stringMatching(/^\d+\+grokbot\[bot\]@users\.noreply\./) },
      committer: { name: 'GitHub' },
      parents: [{ sha: base }],
      verification: {
        verified: true,
        reason: 'valid',
        signature: expect.stringMatching(/^-----BEGIN PGP SIGNATURE-----\n\n[\s\S]+\n-----END PGP SIGNATURE-----$/),
        payload: expect.stringMatching(/^tree [0-9a-f]{40}\nparent [0-9a-f]{40}\nauthor grokbot/),
        verified_at: expect.any(String),
      },
    })
    const author = { name: 'Maria', email: 'm@example.org', date: '2026-01-02T03:04:05Z' }
    expect(await read(await commitFiles({ 'new.txt': 'n\n' }, { author }))).toMatchObject({
      author,
      committer: author,
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null },
    })
    const signature = '-----BEGIN PGP SIGNATURE-----\n\nof whom?\n-----END PGP SIGNATURE-----'
    const own = await read(await commitFiles({ 'new.txt': 'n\n' }, { signature }))
    expect(own.verification).toMatchObject({ verified: false, reason: 'unknown_key', signature })
    const person = octokit(fixture.github, fixture.github.userToken('maria'))
    expect((await read(await commitFiles({ 'new.txt': 'n\n' }, {}, person))).verification).toMatchObject({ verified: false })
    // It is a commit like any other for git, too.
    await octo.rest.git.createRef({ ...hello, ref: 'refs/heads/by-app', sha })
    await git(clone, ['fetch', '-q', 'origin', 'by-app'])
    expect((await git(clone, ['show', '--no-patch', '--format=%H %an %s', 'FETCH_HEAD'])).stdout).toBe(`${sha} grokbot[bot] Change\n`)
    expect((await git(clone, ['fsck', '--strict'])).exitCode).toBe(0)
  })

  test('a commit of no tree or on no commit is 422, and an empty repository takes none of it', async () => {
    const tree = await makeTree([{ path: 'x', mode: '100644', content: 'x' }])
    const create = (wish: { tree: string; parents: string[] }) => outcome(octo.rest.git.createCommit({ ...hello, message: 'm', ...wish }))
    expect(await create({ tree: base, parents: [] })).toMatchObject({ status: 422, data: { message: 'Tree SHA does not exist' } })
    expect(await create({ tree, parents: [tree] })).toMatchObject({
      status: 422,
      data: { message: 'Parent SHA does not exist or is not a commit object' },
    })
    await fixture.github.addRepository({ owner: 'octo', name: 'empty', empty: true })
    expect(await outcome(octo.rest.git.createBlob({ owner: 'octo', repo: 'empty', content: 'x' }))).toMatchObject({
      status: 409,
      data: { message: 'Git Repository is empty.' },
    })
  })
})

describe('rules of branches', () => {
  const push = (...refs: string[]) => git(clone, ['push', '--porcelain', 'origin', ...refs], fixture.github.userToken('maria'))
  const declined = '[remote rejected] (push declined due to repository rule violations)'

  test('signed commits are asked for on a push, and what the API signed passes', async () => {
    const { github } = fixture
    github.addRuleset(repo, { branches: ['signed/*'], rules: ['required_signatures'] })
    await git(clone, ['checkout', '-q', '--detach', base])
    await git(clone, ['commit', '-q', '--allow-empty', '-m', 'one'])
    await git(clone, ['commit', '-q', '--allow-empty', '-m', 'two'])
    const shas = (await git(clone, ['rev-list', '-2', 'HEAD'])).stdout.trim().split('\n')
    const ran = await push('HEAD:refs/heads/signed/x')
    expect(ran.stdout).toContain(declined)
    expect(ran.stderr.replace(/[ \t]+$/gm, '')).toContain(
      [
        'remote: error: GH013: Repository rule violations found for refs/heads/signed/x.',
        `remote: Review all repository rules at ${github.webUrl}/octo/hello/rules?ref=refs%2Fheads%2Fsigned%2Fx`,
        'remote:',
        'remote: - Commits must have verified signatures.',
        'remote:   Found 2 violations:',
        'remote:',
        `remote:   ${shas[0]}`,
        'remote:',
        `remote:   ${shas[1]}`,
      ].join('\n'),
    )
    const author = { name: 'Maria', email: 'm@example.org' }
    const unsigned = await commitFiles({ 's.txt': 's\n' }, { author })
    const refused = { status: 422, data: { message: 'Repository rule violations found\n\nCommits must have verified signatures.\n\n' } }
    expect(await outcome(octo.rest.git.createRef({ ...hello, ref: 'refs/heads/signed/api', sha: unsigned }))).toMatchObject(refused)
    const signed = await commitFiles({ 's.txt': 's\n' })
    expect((await outcome(octo.rest.git.createRef({ ...hello, ref: 'refs/heads/signed/api', sha: signed }))).status).toBe(201)
    await git(clone, ['fetch', '-q', 'origin', 'signed/api'])
    // On a branch that is there, and lacks them: commits that are anywhere already are not looked at for a new one.
    await octo.rest.git.createRef({ ...hello, ref: 'refs/heads/signed/pushed', sha: base })
    expect((await push('FETCH_HEAD:refs/heads/signed/pushed')).exitCode).toBe(0)
    const { data } = await octo.rest.repos.getBranchRules({ ...hello, branch: 'signed/later' })
    expect(data).toMatchObject([{ type: 'required_signatures', ruleset_source: repo }])
  })

  /** Branches at `old`, and two commits of which one follows it and one does not. */
  const rules = ['creation', 'deletion', 'non_fast_forward', 'pull_request'] as const
  let [next, beside] = ['', '']
  beforeAll(async () => {
    const commit = async (on: string, name: string) => {
      await git(clone, ['checkout', '-q', '--detach', on])
      await git(clone, ['commit', '-q', '--allow-empty', '-m', name])
      return (await git(clone, ['rev-parse', 'HEAD'])).stdout.trim()
    }
    const old = await commit(base, 'old')
    next = await commit(old, 'next')
    beside = await commit(base, 'beside')
    const branches = rules.filter(each => each !== 'creation').map(each => `${old}:refs/heads/${each}/x`)
    await push(`${next}:refs/heads/next`, `${beside}:refs/heads/beside`, ...branches)
    for (const rule of rules) fixture.github.addRuleset(repo, { branches: [`${rule}/*`], rules: [rule] })
  })

  test.each<[string, string, () => Promise<unknown>[]]>([
    [
      'no branch is made',
      'Cannot create ref due to creations being restricted.',
      () => [
        push(`${base}:refs/heads/creation/x`),
        outcome(octo.rest.git.createRef({ ...hello, ref: 'refs/heads/creation/x', sha: base })),
      ],
    ],
    [
      'none is deleted',
      'Cannot delete this branch',
      () => [push(':refs/heads/deletion/x'), outcome(octo.rest.git.deleteRef({ ...hello, ref: 'heads/deletion/x' }))],
    ],
    [
      'none is rewritten',
      'Cannot force-push to this branch',
      () => [
        push(`+${beside}:refs/heads/non_fast_forward/x`),
        outcome(octo.rest.git.updateRef({ ...hello, ref: 'heads/non_fast_forward/x', sha: beside, force: true })),
      ],
    ],
    [
      'all goes through pull requests',
      'Changes must be made through a pull request.',
      () => [
        push(`${next}:refs/heads/pull_request/x`),
        outcome(octo.rest.git.updateRef({ ...hello, ref: 'heads/pull_request/x', sha: next })),
      ],
    ],
  ])('%s, by push or by API', async (_, reason, play) => {
    const [ran, asked] = await Promise.all(play())
    expect(ran).toMatchObject({ stdout: expect.stringContaining(declined), stderr: expect.stringContaining(`- ${reason}`) })
    expect(asked).toMatchObject({ status: 422, data: { message: `Repository rule violations found\n\n${reason}\n\n` } })
  })

  test('a protection may ask for signatures too', async () => {
    fixture.github.protectBranch(repo, 'guarded', { requirePullRequest: false, requireSignatures: true })
    await git(clone, ['checkout', '-q', '--detach', base])
    await git(clone, ['commit', '-q', '--allow-empty', '-m', 'guarded'])
    const ran = await push('HEAD:refs/heads/guarded')
    expect(ran.stdout).toContain('(protected branch hook declined)')
    expect(ran.stderr).toContain('GH006: Protected branch update failed for refs/heads/guarded.')
    expect(ran.stderr).toContain('- Commits must have verified signatures.')
  })
})

test('workflows need their own permission by every way in', async () => {
  const { github } = fixture
  const path = '.github/workflows/ci.yml'
  const text = `refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission`
  const person = octokit(github, github.userToken('maria'))
  const { data: tree } = await person.rest.git.createTree({
    ...hello,
    base_tree: base,
    tree: [{ path, mode: '100644', content: 'on: push\n' }],
  })
  expect((await createTree([{ path, mode: '100644', content: 'on: push\n' }])).status).toBe(403)
  const { data: commit } = await octo.rest.git.createCommit({ ...hello, message: 'm', tree: tree.sha, parents: [base] })
  const refused = { status: 403, data: { message: text } }
  expect(await outcome(octo.rest.git.createRef({ ...hello, ref: 'refs/heads/flow', sha: commit.sha }))).toMatchObject(refused)
  expect(await outcome(octo.rest.git.updateRef({ ...hello, ref: 'heads/trunk', sha: commit.sha }))).toMatchObject(refused)
  const write = { ...hello, path, message: 'm', content: Buffer.from('on: push\n').toString('base64'), branch: 'trunk' }
  expect(await outcome(octo.rest.repos.createOrUpdateFileContents(write))).toMatchObject(refused)
  expect((await outcome(person.rest.git.createRef({ ...hello, ref: 'refs/heads/flow', sha: commit.sha }))).status).toBe(201)
})

test('a file is written with one commit, and only over what the writer has seen', async () => {
  const { github } = fixture
  await github.commit({ repo, branch: 'files', files: { 'f.txt': 'one\n' }, from: base })
  const write = (more: { path: string; sha?: string; branch?: string }) =>
    outcome(octo.rest.repos.createOrUpdateFileContents({ ...hello, message: 'Write', content: 'dHdvCg==', branch: 'files', ...more }))
  expect(await write({ path: 'f.txt' })).toMatchObject({ status: 422, data: { message: 'Invalid request.\n\n"sha" wasn\'t supplied.' } })
  expect((await write({ path: 'f.txt', sha: base })).status).toBe(409)
  expect((await write({ path: 'f.txt', branch: 'nowhere' })).status).toBe(404)
  const made = await write({ path: 'new/g.txt' })
  expect(made).toMatchObject({ status: 201, data: { content: { path: 'new/g.txt' }, commit: { verification: { verified: true } } } })
  const blob = '5626abf0f72e58d7a153368ba57db4c673c0e171'
  expect(await write({ path: 'f.txt', sha: blob })).toMatchObject({
    status: 200,
    data: { content: { sha: 'f719efd430d52bcfc8566a43b2eb655688d38871' } },
  })
  github.protectBranch(repo, 'files')
  expect(await write({ path: 'h.txt' })).toMatchObject({
    status: 409,
    data: { message: 'Could not create file: Changes must be made through a pull request.' },
  })
})
