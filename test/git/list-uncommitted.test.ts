import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listUncommitted } from '../../git/index.ts'
import { isRoot, makeFolder, makeRepository, sh } from './scene.ts'

const none = { staged: [], changed: [], unsure: [], untracked: [] }
const longAgo = 1_600_000_000
const odd = ['"q.txt', '"', 'a\nb', 'a\r', ' a ', 'a\\x41', 'a\\', '-n', './x'.slice(2), 'sub/"deep"/\u00fc\t.txt']

/** All files with other times than the index has. */
function touchAll(project: string): void {
  sh(project, `git ls-files -z | xargs -0 touch -d @${longAgo} --`)
}

test('files of any name that were only touched are no changes, and one that was changed is the only one', async () => {
  const project = makeRepository(makeFolder(), Object.fromEntries(odd.map(name => [name, `content of ${name}\n`])))
  // No text: a byte that is no UTF-8.
  sh(project, String.raw`printf x > $'latin\xe9.txt'; printf y > $'"\xe9'; git add -A; git commit -qm second`)
  touchAll(project)
  expect(await listUncommitted(project)).toEqual(none)
  writeFileSync(join(project, '"q.txt'), 'other\n')
  sh(project, String.raw`printf z > $'"\xe9'`)
  expect(await listUncommitted(project)).toEqual({ ...none, changed: ['"q.txt', '"\\xe9'] })
})

test('a tree that was copied, with thousands of files, is no change', { timeout: 60_000 }, async () => {
  const project = makeRepository(
    makeFolder(),
    Object.fromEntries(Array.from({ length: 2_100 }, (_, at) => [`f${at % 7}/${at}.txt`, `${at}\n`])),
  )
  const copy = `${project}-copy`
  execFileSync('cp', ['-r', project, copy])
  touchAll(copy)
  expect(await listUncommitted(copy)).toEqual(none)
  writeFileSync(join(copy, 'f3/1900.txt'), 'other\n')
  expect(await listUncommitted(copy)).toEqual({ ...none, changed: ['f3/1900.txt'] })
})

test('what can not be read, is gone, or is no file any more is a change, and hides no other', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder, { '1': '1', '2': '2', '3': '3', '4': '4', '5': '5', 'dir/6': '6' })
  touchAll(project)
  if (!isRoot) chmodSync(join(project, '2'), 0)
  rmSync(join(project, '3'))
  rmSync(join(project, '4'))
  execFileSync('mkfifo', [join(project, '4')])
  rmSync(join(project, '5'))
  symlinkSync('1', join(project, '5'))
  renameSync(join(project, 'dir'), join(folder, 'elsewhere'))
  symlinkSync(join(folder, 'elsewhere'), join(project, 'dir'))
  const found = await listUncommitted(project, 20_000)
  expect(found?.changed).toEqual([...(isRoot ? [] : ['2']), '3', '4', '5', 'dir/6'])
})

test('files with converted line ends are compared as git would, by their whole path', async () => {
  const project = makeRepository(makeFolder(), { '.gitattributes': '/sub/*.txt text eol=crlf\n', 'sub/a.txt': 'a\r\n' })
  touchAll(project)
  expect(await listUncommitted(project)).toEqual(none)
})

test('a look that takes too long says so, and leaves no lock behind', { timeout: 30_000 }, async () => {
  const project = makeRepository(makeFolder(), { '1': '1', '2': '2' })
  expect(await listUncommitted(project, 1)).toBe(null)
  // An entry without a size, as `git update-index --cacheinfo` makes it: git reads the file to know, for many seconds.
  sh(project, 'truncate -s 16G big; git update-index --add --cacheinfo "100644,$(git rev-parse HEAD:1),big"')
  const startedAt = performance.now()
  expect(await listUncommitted(project, 700)).toBe(null)
  expect([performance.now() - startedAt > 600, existsSync(join(project, '.git/index.lock'))]).toEqual([true, false])
})

test('what only a setting of the person or the repository makes the same is no change', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder, { 'a.txt': 'a\n', 'b.sh': 'b\n', 'c.psd': 'c\n' })
  sh(project, 'git config core.autocrlf true; rm a.txt; git checkout a.txt; git config core.fileMode false; chmod 755 b.sh')
  sh(
    project,
    "git config filter.lfs.clean 'tr a-z A-Z'; echo '*.psd filter=lfs' > .git/info/attributes; git add --renormalize .; git commit -qm lfs; echo '*.out' >> .git/info/exclude; echo 1 > x.out; echo 2 > y.mine; echo 3 > z.txt",
  )
  touchAll(project)
  const home = process.env.HOME
  try {
    process.env.HOME = folder
    sh(folder, 'mkdir -p .config/git; echo "*.mine" > .config/git/ignore')
    expect(await listUncommitted(project)).toEqual({ ...none, unsure: ['c.psd'], untracked: ['z.txt'] })
  } finally {
    process.env.HOME = home
  }
})

test('an edit that leaves size and times is seen, as git sees it: by the time of the index', async () => {
  const project = makeRepository(makeFolder(), { 'a.txt': 'old\n' })
  const at = `touch -d @${longAgo}`
  sh(project, `git config core.trustctime false; ${at} a.txt; git update-index --refresh; echo mod > a.txt; ${at} a.txt .git/index`)
  expect(await listUncommitted(project)).toEqual({ ...none, changed: ['a.txt'] })
})
