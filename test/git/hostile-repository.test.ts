import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { applyChange, fetchMirror, findStart, listUncommitted, openMirror } from '../../git/index.ts'
import { makeApplyScene, makeChange, simpleChange } from './apply-scene.ts'
import { plainGit, sh } from './scene.ts'

/**
 * `arm` runs in the repository; `$EVIL` is a program that leaves `$MARK`. `careless` is what a host that trusts the
 * repository would run, and shows that the trap is armed. `ends` is how applying a change ends, `fetches` how a fetch does.
 */
type Trap = { name: string; arm: string; careless: string; ends: 'applied' | RegExp; change?: string; filesOf?: string; fetches?: string }

// A copied file has another inode and ctime.
const apply = 'git -c core.trustctime=false -c core.checkStat=minimal apply --index "$PATCH"'
const hasFilter = /a\.txt has a filter/
const setFilter = 'git config filter.ev.smudge "$EVIL"; git config filter.ev.clean "$EVIL"'
const attribute = "echo 'a.txt filter=ev' > .git/info/attributes"

const traps: Trap[] = [
  {
    name: 'a filter whose name is no UTF-8',
    arm: String.raw`printf 'a.txt filter=\xff\n' > .git/info/attributes; printf '[filter "\xff"]\n\tsmudge = '"$EVIL"'\n' >> .git/config`,
    careless: apply,
    ends: hasFilter,
  },
  {
    name: 'a filter behind more configuration than anybody lists',
    arm: `${attribute}; node -e 'for (let i = 0; i < 70; i++) console.log("[filter \\"" + "x".repeat(1 << 20) + i + "\\"]\\nclean = y")' >> .git/config; printf '[filter "ev"]\\n\\tsmudge = '"$EVIL"'\\n' >> .git/config`,
    careless: apply,
    ends: hasFilter,
  },
  {
    name: 'a remote that is asked for a missing object',
    arm: `git update-ref refs/heads/x HEAD; mkdir -p .git/refs/replace; echo 1111111111111111111111111111111111111111 > .git/refs/replace/$(git rev-parse HEAD:a.txt)
      git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.url "file://$PWD/.git"
      git config remote.origin.promisor true; git config remote.origin.uploadpack "$EVIL; git-upload-pack"; git config core.autocrlf true`,
    careless: apply,
    ends: 'applied',
  },
  {
    name: 'a secure shell for a missing object',
    arm: `touch -d @1600000000 a.txt; git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.url ssh://host/x
      git config remote.origin.promisor true; git config core.sshCommand "$EVIL"; o=$(git rev-parse HEAD:a.txt); rm -f .git/objects/\${o:0:2}/\${o:2}`,
    careless: 'git cat-file -p HEAD:a.txt',
    ends: /the patch does not give the tree/,
    fetches: 'failed',
  },
  { name: 'a filter', arm: `${attribute}; ${setFilter}`, careless: apply, ends: hasFilter },
  {
    name: 'a filter that is a process',
    arm: `${attribute}; git config filter.ev.process "$EVIL"`,
    careless: apply,
    ends: hasFilter,
  },
  {
    name: 'a filter in an included file',
    arm: `${attribute}; git config include.path more; printf '[filter "ev"]\\n\\tsmudge = '"$EVIL"'\\n' > .git/more`,
    careless: apply,
    ends: hasFilter,
  },
  {
    name: 'a filter in a file included for this gitdir',
    arm: `${attribute}; git config includeIf.gitdir:.git.path more; printf '[filter "ev"]\\n\\tsmudge = '"$EVIL"'\\n' > .git/more`,
    careless: apply,
    ends: hasFilter,
  },
  {
    name: 'a filter in the configuration of the work tree',
    arm: `${attribute}; git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config --worktree filter.ev.smudge "$EVIL"`,
    careless: apply,
    ends: hasFilter,
  },
  {
    name: 'a filter by a list of attributes of its own',
    arm: `echo 'a.txt filter=ev' > .git/mine; git config core.attributesFile "$PWD/.git/mine"; ${setFilter}`,
    careless: apply,
    ends: hasFilter,
  },
  {
    name: 'a filter by attributes that are in the index only',
    arm: `echo 'a.txt filter=ev' > .gitattributes; git add .gitattributes; git commit -qm attributes; git update-index --skip-worktree .gitattributes; rm .gitattributes; ${setFilter}`,
    careless: apply,
    ends: hasFilter,
    filesOf: 'armed',
  },
  {
    name: 'a filter by attributes that the change brings',
    arm: setFilter,
    careless: `${apply}; touch a.txt; git diff`,
    change: `${simpleChange}; echo 'a.txt filter=ev' > .gitattributes`,
    ends: hasFilter,
  },
  {
    name: 'a filter on a file that is only touched',
    arm: `echo 'b.txt filter=ev' > .git/info/attributes; ${setFilter}; touch -d @1600000000 b.txt`,
    careless: 'git status',
    ends: 'applied',
  },
  {
    name: 'a hook',
    arm: 'mkdir -p .git/hooks; cp "$EVIL" .git/hooks/post-index-change',
    careless: apply,
    ends: 'applied',
  },
  {
    name: 'a folder of hooks in the work tree',
    arm: 'mkdir -p ignored; cp "$EVIL" ignored/post-index-change; git config core.hooksPath ignored',
    careless: apply,
    ends: 'applied',
  },
  {
    name: 'a program in front of the one that packs objects',
    arm: 'git config uploadpack.packObjectsHook "$EVIL"',
    careless: 'GIT_CONFIG_GLOBAL="$PWD/.git/config" git clone -q --no-local . ../taken',
    ends: 'applied',
  },
  { name: 'a monitor', arm: 'git config core.fsmonitor "$EVIL"', careless: 'git status', ends: 'applied' },
  {
    name: 'a monitor that the index remembers',
    arm: 'git update-index --fsmonitor; git config core.fsmonitor "$EVIL"',
    careless: 'git diff-files',
    ends: 'applied',
  },
  {
    name: 'a diff program and a text converter',
    arm: `echo '*.txt diff=ev' > .git/info/attributes; git config diff.ev.textconv "$EVIL"; git config diff.ev.command "$EVIL"; git config diff.external "$EVIL"`,
    careless: 'git diff HEAD~0 $(git commit-tree -m x HEAD:sub)',
    ends: 'applied',
  },
  {
    name: 'a merge driver',
    arm: `echo '* merge=ev' > .git/info/attributes; git config merge.ev.driver "$EVIL"; git config merge.default ev`,
    careless: `git checkout -qb x; echo x > a.txt; git commit -qam x; git checkout -q main; echo y > a.txt; git commit -qam y; git merge x`,
    ends: 'applied',
  },
  {
    name: 'a program for signatures',
    arm: `git config gpg.program "$EVIL"; git config commit.gpgSign true; git config log.showSignature true`,
    careless: 'git commit --allow-empty -m x',
    ends: 'applied',
  },
  {
    name: 'a configuration shared from elsewhere',
    arm: `mv .git ../shared; mkdir .git; cp ../shared/HEAD ../shared/index .git; echo ../../shared > .git/commondir; git config core.fsmonitor "$EVIL"`,
    careless: 'git status',
    ends: /its parts lie in another repository/,
  },
  {
    name: 'a submodule with a monitor and a filter',
    arm: `git clone -q . sub/module; git -C sub/module config core.fsmonitor "$EVIL"; git add sub/module 2>&1; git commit -qm module; echo x >> sub/module/a.txt`,
    careless: 'git status',
    ends: 'applied',
    filesOf: 'armed',
  },
  {
    name: 'a pager and an editor',
    arm: `git config core.pager "$EVIL"; git config core.editor "$EVIL"; git config alias.apply "!$EVIL"; git config alias.rev-parse "!$EVIL"; git config alias.pwned "!$EVIL"`,
    careless: 'git pwned',
    ends: 'applied',
  },
]

describe('nothing that a repository names is started, to look at it or to apply a change', () => {
  test.each(traps)('$name', { timeout: 60_000 }, async ({ arm, careless, ends, change: script, filesOf, fetches }) => {
    const { folder, project, change: first } = makeApplyScene(script)
    const env = { MARK: join(folder, 'mark'), EVIL: join(folder, 'evil.sh'), PATCH: first.patch, PATH: `${process.env.PATH}` }
    writeFileSync(env.EVIL, `#!/bin/sh\n: > ${env.MARK}\n[ $# -gt 0 ] || timeout 1 cat\n`, { mode: 0o755 })
    sh(project, arm, env)
    // Where arming made a commit of its own, the change is made on that one.
    const change = filesOf === 'armed' ? makeChange(folder, project, simpleChange) : first
    const copy = `${project}-careless`
    execFileSync('cp', ['-a', project, copy])
    rmSync(env.MARK, { force: true })

    const mirror = await openMirror({ dataDir: join(folder, 'data'), tenant: 'octo', repositoryId: 1 })
    const fetched = await fetchMirror(mirror, { url: project })
    expect([fetched.kind, existsSync(env.MARK)]).toEqual([fetches ?? 'fetched', false])
    const start = await findStart(project, null)
    const found = await listUncommitted(project)
    const result = await applyChange(project, change)
    expect([start.kind, found && [found.staged, found.changed], existsSync(env.MARK)]).toEqual(['found', [[], []], false])
    if (ends === 'applied') {
      expect(result).toEqual({ kind: 'applied' })
      expect(plainGit(project, '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', 'write-tree')).toBe(change.tree)
    } else expect(result).toEqual({ kind: 'refused', reason: expect.stringMatching(ends), remedy: expect.anything() })

    rmSync(env.MARK, { force: true })
    sh(copy, `(${careless.replaceAll(project, copy)}) >/dev/null 2>&1 </dev/null || true`, env)
    expect(existsSync(env.MARK), 'the trap is armed').toBe(true)
  })
})

describe('what git would wait for, or read for ever, is named', () => {
  const fifo = (path: string) => `rm -rf ${path}; mkfifo ${path}`
  const cases: [name: string, arm: string, says: RegExp][] = [
    ['a HEAD of 3 GiB', 'truncate -s 3G .git/HEAD', /\.git\/HEAD has 3221225472 bytes, and at most 4096 are read$/],
    ['an index of 3 GiB', 'truncate -s 3G .git/index', /\.git\/index has 3221225472 bytes/],
    ['a branch of 3 GiB', 'truncate -s 3G .git/refs/heads/main', /\.git\/refs\/heads\/main has 3221225472 bytes/],
    ...['.git/index', '.git/packed-refs', '.git/shallow', '.git/objects/info/alternates', '.git/refs/heads/main'].map(
      (path): [string, string, RegExp] => [`a FIFO as ${path}`, fifo(path), new RegExp(`${path} is no plain file$`)],
    ),
    ['a link to a FIFO as packed branches', 'mkfifo .git/x; ln -sf x .git/packed-refs', /\.git\/packed-refs is no plain file$/],
    ['a FIFO as attributes', fifo('.gitattributes'), /\.gitattributes is no plain file$/],
    ['a FIFO as a list of ignored names', fifo('.gitignore'), /\.gitignore is no plain file$/],
  ]
  test.each(cases)('%s', { timeout: 30_000 }, async (_, arm, says) => {
    const { project, change } = makeApplyScene()
    sh(project, arm)
    const reason = expect.stringMatching(says)
    expect(await findStart(project, null, 5_000)).toEqual({ kind: 'unusable', reason, next: expect.any(String) })
    expect(await applyChange(project, change, 5_000)).toEqual({ kind: 'refused', reason, remedy: { do: 'mend' } })
  })

  test('what it still waits for is called late, not missing or another', { timeout: 60_000 }, async () => {
    const { project, change } = makeApplyScene()
    const reason = 'git could not read it in time (3 s)'
    sh(project, 'mkdir more; mkfifo more/.gitattributes')
    expect(await applyChange(project, change, 3_000)).toEqual({ kind: 'refused', reason, remedy: { do: 'mend' } })
    sh(project, 'rm -r more; git tag other; rm .git/refs/tags/other; mkfifo .git/refs/tags/other')
    expect(await findStart(project, 'other', 3_000)).toEqual({ kind: 'unusable', reason, next: expect.any(String) })
  })
})
