import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { faultOfPath } from '../../git/entry-name.ts'
import { adoptTree, planTree, type TreePlan, type TreeRules, type Workspace } from '../../git/index.ts'
import { asAgent, openSharedScene, personEnv, plainGit, rules, runPlan, type Scene, workspaceOf } from './scene.ts'

/**
 * The quarantine as a tree sandbox would leave it whose every byte belongs to an attacker. Whatever it says, nothing of it
 * may reach the store unless all of it is in order.
 */
let scene: Scene
let workspace: Workspace
let end: () => void

beforeAll(async () => {
  const opened = await openSharedScene()
  scene = opened.scene
  end = opened.end
  workspace = await workspaceOf(scene)
  asAgent(scene, workspace, 'echo changed > src/add.js')
})
afterAll(() => end())

function planNow(run = true): TreePlan {
  const plan = planTree({ workspace, store: scene.store, selection: { kind: 'change', include: [] }, workDir: join(scene.folder, 'run') })
  if (run) expect(runPlan(scene, plan)).toMatchObject({ status: 0 })
  return plan
}

async function adoptNow(plan: TreePlan, more: Partial<TreeRules> = {}, baseTree = scene.baseTree) {
  const before = storeFiles()
  const result = await adoptTree({ store: scene.store, plan, rules: { ...rules, ...more }, baseTree })
  if (result.kind === 'refused') expect(storeFiles()).toEqual(before)
  await plan.remove()
  return result
}

function storeFiles(): string[] {
  return readdirSync(scene.store.path, { recursive: true, encoding: 'utf8' }).sort()
}

const replace = (name: string, make: (path: string, plan: TreePlan) => void) => (plan: TreePlan) => {
  const path = join(plan.quarantine, name)
  rmSync(path, { recursive: true, force: true })
  make(path, plan)
}

const tampered: { name: string; tamper: (plan: TreePlan) => void; rules?: Partial<TreeRules> }[] = [
  { name: 'no pack', tamper: replace('pack', () => {}) },
  { name: 'a pack that is a link to a file of the host', tamper: replace('pack', path => symlinkSync('/etc/hostname', path)) },
  { name: 'a pack that is a FIFO nobody writes to', tamper: replace('pack', path => execFileSync('mkfifo', [path])) },
  { name: 'a pack that is a folder', tamper: replace('pack', path => mkdirSync(path)) },
  { name: 'a pack that is no pack', tamper: replace('pack', path => writeFileSync(path, 'PACK of lies')) },
  { name: 'an empty pack file', tamper: replace('pack', path => writeFileSync(path, '')) },
  { name: 'a pack above its limit', tamper: () => {}, rules: { packBytesMax: 50 } },
  { name: 'more files than allowed', tamper: () => {}, rules: { filesMax: 3 } },
  { name: 'a file above its limit', tamper: () => {}, rules: { fileBytesMax: 5 } },
  { name: 'no tree', tamper: replace('tree', () => {}) },
  { name: 'a tree id that is a link', tamper: replace('tree', path => symlinkSync('/etc/hostname', path)) },
  { name: 'a tree id that is a FIFO', tamper: replace('tree', path => execFileSync('mkfifo', [path])) },
  { name: 'a tree id with an option', tamper: replace('tree', path => writeFileSync(path, '--help')) },
  { name: 'a tree that does not exist', tamper: replace('tree', path => writeFileSync(path, 'f'.repeat(40))) },
  { name: 'a tree that is a commit', tamper: replace('tree', path => writeFileSync(path, scene.base)) },
  {
    name: 'a tree that is a blob',
    tamper: replace('tree', path => writeFileSync(path, plainGit(scene.project, 'rev-parse', 'HEAD:README.md'))),
  },
  { name: 'a file its own user can not read', tamper: replace('unreadable', path => writeFileSync(path, 'src/add.js\0')) },
  { name: 'a changed submodule', tamper: replace('gitlinks-changed', path => writeFileSync(path, 'sub\0')) },
  {
    name: 'a pack with one flipped bit',
    tamper: plan => {
      const path = join(plan.quarantine, 'pack')
      const bytes = Buffer.from(execFileSync('cat', [path]))
      bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] as number) ^ 1
      rmSync(path)
      writeFileSync(path, bytes)
    },
  },
]

test.each(tampered)('$name is refused and leaves the store as it was', async ({ tamper, rules: more }) => {
  const plan = planNow()
  tamper(plan)
  expect(await adoptNow(plan, more)).toMatchObject({ kind: 'refused' })
})

test('the untouched quarantine of the same work tree is adopted', async () => {
  const adopted = await adoptNow(planNow())
  expect(adopted).toMatchObject({ kind: 'adopted', untracked: [], gitlinksLeftOut: [], specialsLeftOut: [] })
})

test('a list of many names that no tree may have is taken apart in time, each name in its list', { timeout: 60_000 }, async () => {
  const plan = planNow()
  const names = Array.from({ length: 300_000 }, (_, at) => (at % 2 === 0 ? `d${at}/git~1` : `d${at}/file`))
  replace('untracked', path => writeFileSync(path, names.map(name => `${name}\0`).join('')))(plan)
  const startedAt = performance.now()
  const adopted = await adoptNow(plan)
  expect(performance.now() - startedAt).toBeLessThan(6_000)
  expect(adopted).toMatchObject({
    kind: 'adopted',
    untracked: names.filter(name => name.endsWith('file')),
    specialsLeftOut: names.filter(name => name.endsWith('git~1')),
  })
})

test('names full of blanks are read in time', () => {
  const startedAt = performance.now()
  for (let at = 0; at < 2_000; at++) expect(faultOfPath(Buffer.from(`${' '.repeat(4_090)}${at}`))).toBe(null)
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})

type Entry = { mode: string; name: string | Buffer; content?: string | Buffer; id?: string }
const file = (name: string | Buffer, content: string | Buffer = 'x\n'): Entry => ({ mode: '100644', name, content })
const someCommit = '1234567890123456789012345678901234567890'

const badTrees: { name: string; entries: Entry[]; reason?: RegExp }[] = [
  ...[
    '.git',
    '.GIT',
    '.Git',
    '.git ',
    '.git.',
    '.git. .',
    'git~1',
    'GIT~1',
    '.git::$INDEX_ALLOCATION',
    '.git:stream',
    '.g\u200cit',
    '.gi\ufefft',
    'a\\.git',
    '.git\\config',
    '..',
    '.',
    'a/b',
    '',
    'x\\..\\y',
  ].map(name => ({ name: `an entry called ${JSON.stringify(name)}`, entries: [file(name)] })),
  { name: 'a folder called .git', entries: [{ mode: '40000', name: '.git', id: 'tree' }] },
  { name: 'a submodule that the base has not', entries: [{ mode: '160000', name: 'sub', id: someCommit }], reason: /submodule/ },
  { name: 'a group-writable file', entries: [{ mode: '100664', name: 'x', content: 'x' }] },
  { name: 'a mode git does not know', entries: [{ mode: '100600', name: 'x', content: 'x' }] },
  { name: 'a device', entries: [{ mode: '20666', name: 'x', content: 'x' }] },
  { name: 'a zero-padded mode', entries: [{ mode: '0100644', name: 'x', content: 'x' }] },
  { name: 'the same name twice', entries: [file('x', 'one'), file('x', 'two')] },
  { name: 'entries in the wrong order', entries: [file('b'), file('a')] },
  { name: 'a file whose content does not exist', entries: [{ mode: '100644', name: 'x', id: 'f'.repeat(40) }] },
  { name: 'a file that is a folder', entries: [{ mode: '100644', name: 'x', id: 'tree' }] },
  { name: 'a folder that is a file', entries: [{ mode: '40000', name: 'x', content: 'x' }] },
  { name: 'a null object id', entries: [{ mode: '100644', name: 'x', id: '0'.repeat(40) }] },
  { name: 'a .gitmodules that is a link', entries: [{ mode: '120000', name: '.gitmodules', content: 'elsewhere' }] },
  { name: 'a .gitmodules with an option as its URL', entries: [file('.gitmodules', '[submodule "a"]\n\tpath = a\n\turl = -u./payload\n')] },
  {
    name: 'a .gitmodules with a path out',
    entries: [file('.gitmodules', '[submodule "../../x"]\n\tpath = a\n\turl = https://x.example/\n')],
  },
  { name: 'a link longer than any path', entries: [{ mode: '120000', name: 'link', content: 'x'.repeat(4096) }], reason: /4096 bytes/ },
  { name: 'a file that unfolds to 60 MB', entries: [file('bomb', Buffer.alloc(60_000_000))], reason: /60000000 bytes/ },
]

test.each(badTrees)('a tree with $name is refused and leaves the store as it was', async ({ entries, reason }) => {
  const plan = planNow(false)
  writeHostileTree(plan, entries)
  const result = await adoptNow(plan)
  expect(result).toMatchObject({ kind: 'refused' })
  if (reason && result.kind === 'refused') expect(result.reason).toMatch(reason)
})

test('the same hand-made quarantine with odd but honest names is adopted', async () => {
  const plan = planNow(false)
  const names = [
    '...',
    '.gitx',
    ' .git',
    '.git.txt',
    'git~2',
    'a\\b',
    'con',
    'new\nline',
    'esc\x1b[31m',
    '.\u200cx',
    Buffer.from([0xff, 0xfe]),
  ]
  const entries = names.map(name => file(name)).sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
  writeHostileTree(plan, entries)
  expect(await adoptNow(plan)).toMatchObject({ kind: 'adopted' })
})

test('a submodule of the base may neither go nor move, and stays when nothing touched it', async () => {
  const { scene: other, end: endOther } = await openSharedScene({ 'a.txt': 'a\n' })
  try {
    plainGit(other.project, 'update-index', '--add', '--cacheinfo', `160000,${someCommit},sub`)
    const withSub = plainGit(other.project, 'write-tree')
    const tree = (entries: Entry[]) => {
      const plan = planTree({ workspace, store: other.store, selection: { kind: 'all' }, workDir: join(scene.folder, 'run') })
      writeHostileTree(plan, entries)
      return plan
    }
    // The store must know the base with the submodule.
    execFileSync('git', ['--git-dir', other.store.path, 'fetch', '-q', other.project, `${withSub}:refs/grok/base`], {
      env: personEnv,
      stdio: 'ignore',
    })
    const adopt = async (entries: Entry[]) => await adoptTree({ store: other.store, plan: tree(entries), rules, baseTree: withSub })
    const moved = { mode: '160000', name: 'sub', id: 'a'.repeat(40) }
    expect(await adopt([file('a.txt', 'a\n'), moved])).toMatchObject({ kind: 'refused', path: 'sub' })
    expect(await adopt([file('a.txt', 'b\n')])).toMatchObject({ kind: 'refused', path: 'sub' })
    expect(await adopt([file('a.txt', 'b\n'), file('sub', 'now a file\n')])).toMatchObject({ kind: 'refused', path: 'sub' })
    expect(await adopt([file('a.txt', 'b\n'), { mode: '160000', name: 'sub', id: someCommit }])).toMatchObject({ kind: 'adopted' })
  } finally {
    endOther()
  }
})

test('names that stand for .git are found without git as well, and only those', () => {
  const bad = [
    '.git',
    'a/.git',
    '.GIT/config',
    'x/.gIt /y',
    '.git...',
    'GIT~1/hooks',
    '.git::$DATA',
    '.g\u200dit',
    '\u202a.git',
    'a\\.git\\b',
    'a//b',
    '/a',
    'a/',
    '',
    '.',
    'a/../b',
    'a\\..\\b',
    'x/.',
    'n'.repeat(4097),
  ]
  const good = [
    'git',
    '.gitignore',
    '.github/x',
    '.git.txt',
    'git~10',
    'a~1',
    '..a',
    'a..',
    'x\\y',
    '.gi',
    'new\nline',
    '.git\x01',
    ' .git',
  ]
  expect(bad.filter(name => faultOfPath(Buffer.from(name)) === null)).toEqual([])
  expect(good.filter(name => faultOfPath(Buffer.from(name)) !== null)).toEqual([])
})

/** Writes a pack with exactly these entries as the root tree, object by object, the way no git command would. */
function writeHostileTree(plan: TreePlan, entries: Entry[]): void {
  const objects = mkdtempSync(join(scene.folder, 'hand-made-'))
  mkdirSync(join(objects, 'pack'), { recursive: true })
  const ids: string[] = []
  const write = (type: string, content: Buffer) => {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    const id = createHash('sha1').update(whole).digest('hex')
    mkdirSync(join(objects, id.slice(0, 2)), { recursive: true })
    writeFileSync(join(objects, id.slice(0, 2), id.slice(2)), deflateSync(whole))
    ids.push(id)
    return id
  }
  const rows = entries.map(({ mode, name, content, id }) => {
    const sha = id === 'tree' ? write('tree', Buffer.alloc(0)) : (id ?? write('blob', Buffer.from(content ?? '')))
    return Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.of(0), Buffer.from(sha, 'hex')])
  })
  const tree = write('tree', Buffer.concat(rows))
  const pack = execFileSync('git', ['--git-dir', scene.mirror.path, 'pack-objects', '--stdout', '-q'], {
    input: `${[...new Set(ids)].join('\n')}\n`,
    env: { ...personEnv, GIT_OBJECT_DIRECTORY: objects },
    maxBuffer: 1 << 30,
  })
  writeFileSync(join(plan.quarantine, 'pack'), pack)
  writeFileSync(join(plan.quarantine, 'tree'), `${tree}\n`)
}
