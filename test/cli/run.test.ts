import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { UsageError } from '../../cli/exit.ts'
import { readLocalRepository } from '../../cli/run/local-repository.ts'
import { readScript } from '../../cli/run/model.ts'
import { decideRun, readCommand, readIssue } from '../../cli/run/order.ts'
import { defaultLimits } from '../../config-schema/index.ts'
import { fingerprint, grokbot, lastObject, openScene, type Ran, runArguments, type Scene, terminalOrders } from './scene.ts'

const wallMs = 120_000

async function scene(...given: Parameters<typeof openScene>): Promise<Scene> {
  const opened = await openScene(...given)
  onTestFinished(opened.remove)
  return opened
}

describe('a run that proves its change', () => {
  let opened: Scene
  let before: Record<string, string>
  let ran: Ran
  let result: Record<string, unknown>
  beforeAll(async () => {
    opened = await openScene()
    before = fingerprint(opened.repo)
    ran = await grokbot([...runArguments(opened), '--json'])
    result = lastObject(ran.stdout)
  }, wallMs)
  afterAll(() => opened.remove())

  it('prints one object with everything in it and ends with 0', () => {
    expect(ran.exitCode, ran.stderr).toBe(0)
    expect(ran.stdout.trim().split('\n')).toHaveLength(1)
    const passed = {
      name: 'sh check.sh',
      passed: true,
      exitCode: 0,
      killedBy: null,
      counts: null,
      source: 'configured',
      durationMs: expect.any(Number),
    }
    const failed = { ...passed, passed: false, exitCode: 1 }
    const taskId = expect.stringMatching(/^t_[0-9A-Z]{26}$/)
    expect(result).toEqual({
      outcome: 'succeeded',
      reason: 'the checks pass',
      code: null,
      summary: 'Say fixed\n\nThe value was wrong.',
      patch: path.join(opened.repo, '.grok/out', `${result.taskId}.patch`),
      bundle: path.join(opened.repo, '.grok/out', `${result.taskId}.json`),
      signed: true,
      applied: false,
      receipts: 4 + 3 + 4,
      usage: {
        turns: 4,
        inputTokens: expect.any(Number),
        cachedTokens: expect.any(Number),
        outputTokens: expect.any(Number),
        costMicroUsd: null,
      },
      verdict: 'proven',
      evidence: {
        baseCodeBaseTests: { state: 'failed', checks: [failed] },
        newCodeBaseTests: { state: 'passed', checks: [passed] },
        baseCodeNewTests: { state: 'failed', checks: [failed] },
        newCodeNewTests: { state: 'passed', checks: [passed] },
      },
      sandbox: { state: 'enforced', profile: 'workspace', engine: 'bwrap', missing: expect.any(Array) },
      base: expect.stringMatching(/^[0-9a-f]{40}$/),
      files: [{ path: 'value.txt', added: 1, removed: 1 }],
      leftOut: [],
      taskId,
      durationMs: expect.any(Number),
    })
  })
  it('leaves the repository as it was, byte by byte and second by second, .git included', () => {
    expect(fingerprint(opened.repo)).toEqual(before)
  })
  it('keeps its files out of what git calls a change', async () => {
    expect(await opened.git('status', '--porcelain', '--untracked-files=all')).toBe('')
    expect(readdirSync(path.join(opened.repo, '.grok/out')).sort()).toEqual([
      '.gitignore',
      `${result.taskId}.json`,
      `${result.taskId}.patch`,
    ])
  })
  it('writes a patch that applies to its base exactly', async () => {
    const copy = path.join(opened.folder, 'copy')
    await execa('git', ['clone', '-q', opened.repo, copy])
    await execa('git', ['apply', '--index', String(result.patch)], { cwd: copy })
    expect(readFileSync(path.join(copy, 'value.txt'), 'utf8')).toBe('fixed\n')
  })
  it('shows its progress on standard error only, one line an event', () => {
    expect(ran.stderr).toMatch(/^grok fix {2}"the value" +t_/)
    expect(ran.stderr).toMatch(/\n {2}\d+:\d\d {2}read {5}value\.txt/)
    expect(ran.stderr).toMatch(/\n {2}\d+:\d\d {2}run {6}sh check\.sh && echo passes {2}exit 0/)
    expect(ran.stderr).toMatch(/\nsandbox enforced, no network · scripted · limits 20 min, 60 turns\n/)
    expect(ran.stderr).not.toContain('\u001b')
  })
  it('can be listed, shown and replayed, and its chain verifies', { timeout: wallMs }, async () => {
    const id = String(result.taskId)
    const [list, show, replay] = await Promise.all([
      grokbot(['runs', 'list', '--json', '--data', opened.data]),
      grokbot(['runs', 'show', id, '--json', '--data', opened.data]),
      grokbot(['replay', id, '--json', '--data', opened.data]),
    ])
    expect(JSON.parse(list.stdout)).toMatchObject([{ taskId: id, state: 'ended', outcome: 'succeeded', verb: 'fix' }])
    // What was applied afterwards is not recorded, so nothing is said of it.
    expect([JSON.parse(show.stdout).result, JSON.parse(replay.stdout).result].map(told => 'applied' in told)).toEqual([false, false])
    expect(JSON.parse(show.stdout)).toMatchObject({ taskId: id, result: { outcome: 'succeeded', verdict: 'proven', receipts: 11 } })
    const replayed = JSON.parse(replay.stdout)
    expect(replayed.chain).toEqual({ kind: 'verifies', events: replayed.events.length, erased: 0, headHash: replayed.events.at(-1).hash })
    expect(replayed.events.map((event: { type: string }) => event.type)).toEqual(
      expect.arrayContaining(['task.accepted', 'session.started', 'change.judged', 'task.ended']),
    )
  })
  it('is signed by this installation', { timeout: wallMs }, async () => {
    const verified = await grokbot(['verify', String(result.bundle), '--json'])
    expect([verified.exitCode, lastObject(verified.stdout).result]).toEqual([0, 'integrity-only'])
    const compared = await grokbot(['verify', String(result.bundle), '--repo', opened.repo])
    expect(compared.stdout).toMatch(
      /^fault: repository \(no-commit\): .*which was never pushed: verify without --repo, and apply the patch to have the change$/m,
    )
  })
  it('is told as over when it is resumed, also without a model', { timeout: wallMs }, async () => {
    const again = await grokbot(['run', '--resume', String(result.taskId), '--data', opened.data])
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('this task has ended already')])
  })
})

describe('--apply', () => {
  it('puts a proven change into the work tree and the index', { timeout: wallMs }, async () => {
    const { repo, git, ...rest } = await scene()
    const ran = await grokbot([...runArguments({ repo, git, ...rest }), '--apply', '-q'])
    expect(ran.exitCode, ran.stderr).toBe(0)
    expect(await git('diff', '--cached', '--name-only')).toBe('value.txt')
    expect(readFileSync(path.join(repo, 'value.txt'), 'utf8')).toBe('fixed\n')
    expect(ran.stdout).toMatch(/ applied\n/)
  })
  it('applies nothing onto uncommitted changes, says so, and ends with 1', { timeout: wallMs }, async () => {
    const opened = await scene()
    opened.write('repo/check.sh', 'grep -q fixed value.txt # edited\n')
    const before = fingerprint(opened.repo)
    const ran = await grokbot([...runArguments(opened), '--apply'])
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toMatch(
      /not applied: there are uncommitted changes of tracked files: check\.sh\n.*commit or stash them, then: git apply --index /,
    )
    expect(ran.stderr).toContain('1 uncommitted change is not used')
    expect(fingerprint(opened.repo)).toEqual(before)
  })
})

describe('--apply and a file git was told not to look at', () => {
  it.each([
    ['--assume-unchanged', '--no-assume-unchanged'],
    ['--skip-worktree', '--no-skip-worktree'],
  ])('by %s: the command that takes the mark away', { timeout: wallMs }, async (mark, unmark) => {
    const opened = await scene()
    await opened.git('update-index', mark, 'value.txt')
    opened.write('repo/value.txt', 'mine\n')
    const ran = await grokbot([...runArguments(opened), '--apply', '-q'])
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toMatch(
      new RegExp(`not applied: git was told not to look at value\\.txt.*\\n.*git update-index ${unmark} value\\.txt; then: `),
    )
    expect(readFileSync(path.join(opened.repo, 'value.txt'), 'utf8')).toBe('mine\n')
  })
})

describe('a repository that would like to be more than read', () => {
  it('starts no program of its configuration on the host', { timeout: wallMs }, async () => {
    const opened = await scene({ '.gitattributes': '*.txt filter=evil\n' })
    const trace = path.join(opened.folder, 'trace')
    const evil = opened.write('evil.sh', `#!/bin/sh\necho "$0 $*" >> ${trace}\n[ $# -gt 0 ] || cat\n`)
    await execa('chmod', ['755', evil])
    for (const key of ['core.fsmonitor', 'filter.evil.clean', 'diff.external', 'core.pager', 'core.sshCommand'])
      await opened.git('config', key, evil)
    opened.write('repo/.git/hooks/post-index-change', `#!/bin/sh\necho hook >> ${trace}\n`)
    await execa('chmod', ['755', path.join(opened.repo, '.git/hooks/post-index-change')])
    opened.write('repo/value.txt', 'broken and edited\n')
    rmSync(trace, { force: true })
    const ran = await grokbot([...runArguments(opened), '-q'])
    expect(ran.exitCode, ran.stderr).toBe(0)
    expect(existsSync(trace)).toBe(false)
    // What a careless host would have done: this is how the trap shows that it is armed.
    await opened.git('status', '--porcelain')
    expect(readFileSync(trace, 'utf8')).toContain('evil.sh')
  })
  it('starts none either where times say nothing, nor when its change is applied', { timeout: wallMs }, async () => {
    const opened = await scene({ '.gitattributes': '*.txt filter=evil\n' })
    const trace = path.join(opened.folder, 'trace')
    const evil = opened.write('evil.sh', `#!/bin/sh\necho "$0 $*" >> ${trace}\ncat\n`)
    await execa('chmod', ['755', evil])
    for (const key of ['clean', 'smudge']) await opened.git('config', `filter.evil.${key}`, evil)
    // As somebody can pack it: the file has the time of the index, so git reads the file itself to know.
    const file = path.join(opened.repo, 'value.txt')
    utimesSync(file, 1_700_000_000, 1_700_000_000)
    await opened.git('-c', 'filter.evil.clean=', 'update-index', '--refresh')
    utimesSync(path.join(opened.repo, '.git/index'), 1_700_000_000, 1_700_000_000)
    rmSync(trace, { force: true })
    // Also not where the caller's environment has settings of its own: git under a hook, or a person's wrapper.
    const env = { GIT_CONFIG: '/dev/null', GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${evil}'` }
    const ran = await grokbot([...runArguments(opened), '--apply', '-q'], { env })
    expect([ran.exitCode, existsSync(trace)]).toEqual([1, false])
    expect(ran.stdout).toMatch(/not applied: value\.txt has a filter, .*\n.*git apply --index /)
    expect(readFileSync(file, 'utf8')).toBe('broken\n')
    utimesSync(path.join(opened.repo, '.git/index'), 1_600_000_000, 1_600_000_000)
    await opened.git('diff-files', '--raw')
    expect(existsSync(trace)).toBe(true)
  })
  it('takes a file that was only touched for what it is, and applies onto it', { timeout: wallMs }, async () => {
    const opened = await scene()
    utimesSync(path.join(opened.repo, 'value.txt'), 1_600_000_000, 1_600_000_000)
    const ran = await grokbot([...runArguments(opened), '--apply', '-q'])
    expect([ran.exitCode, readFileSync(path.join(opened.repo, 'value.txt'), 'utf8')]).toEqual([0, 'fixed\n'])
  })
  it('gets no file of ours written through a link it holds', { timeout: wallMs }, async () => {
    const opened = await scene()
    const outside = mkdtempSync(path.join(tmpdir(), 'grokbot-outside-'))
    onTestFinished(() => rmSync(outside, { recursive: true }))
    symlinkSync(outside, path.join(opened.repo, '.grok'))
    const ran = await grokbot([...runArguments(opened), '--json', '-q'])
    const result = lastObject(ran.stdout)
    expect(readdirSync(outside)).toEqual([])
    expect(result.patch).toBe(path.join(opened.data, 'tasks', String(result.taskId), 'change.patch'))
  })
  it('reaches the terminal with no order to it, from names, titles, outputs and answers', { timeout: wallMs }, async () => {
    const orders = '\u001b]0;owned\u0007\u009b2J\u202e'
    const name = `x${orders}.txt`
    const opened = await scene({ [name]: 'a\n', 'AGENTS.md': orders }, [
      { text: orders, toolCalls: [{ name: 'read_file', arguments: { target_file: name } }] },
      {
        toolCalls: [
          {
            name: 'run_terminal_command',
            arguments: { command: `printf '\\033[2J%s' '${orders}'; echo fixed > value.txt`, description: orders },
          },
        ],
      },
      { toolCalls: [{ name: `no_such${orders}`, arguments: `{${orders}` }] },
      { text: `Done ${orders}\n\n${orders}` },
    ])
    const issue = opened.write('issue.md', `Title ${orders}\n\nBody ${orders}\n`)
    const argv = [...runArguments(opened), '--issue', issue, '-vv']
    const shown = await grokbot(argv)
    expect(shown.exitCode, shown.stderr).toBe(0)
    expect(shown.stderr).toContain('\\u{1b}]0;owned\\u{7}')
    const json = await grokbot([...argv, '--stream-json'])
    const id = String(lastObject(json.stdout).taskId)
    const more = await Promise.all([
      grokbot(['replay', id, '--data', opened.data]),
      grokbot(['runs', 'show', id, '--data', opened.data]),
      grokbot(['data', 'export', id, '--data', opened.data]),
      grokbot([orders]),
      grokbot(['config', 'check', opened.write(`repo/${name}.yml`, `version: 1\n${orders}: 1\n`)]),
    ])
    for (const ran of [shown, json, ...more]) expect(`${ran.stdout}${ran.stderr}`).not.toMatch(terminalOrders)
  })
})

describe('what is not in the change', () => {
  it('is named in the report, in the object and by runs show', { timeout: wallMs }, async () => {
    const opened = await scene({}, [
      { toolCalls: [{ name: 'write', arguments: { file_path: 'value.txt', content: 'fixed\n' } }] },
      { toolCalls: [{ name: 'write', arguments: { file_path: '.github/workflows/x.yml', content: 'on: push\n' } }] },
      { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'echo made > 2.sh', description: 'make' } }] },
      { text: 'Done' },
    ])
    const ran = await grokbot([...runArguments(opened), '-q'])
    expect(ran.stdout).toMatch(/^left out .*2\.sh \(new file made by a command\)/m)
    const id = /\.grok\/out\/(t_\w+)\.patch/.exec(ran.stdout)?.[1] ?? ''
    const [shown, json] = await Promise.all([
      grokbot(['runs', 'show', id, '--data', opened.data]),
      grokbot(['runs', 'show', id, '--json', '--data', opened.data]),
    ])
    expect(shown.stdout).toMatch(/^left out .*2\.sh \(new file made by a command\)/m)
    expect(JSON.parse(json.stdout).result.leftOut).toContainEqual({ path: '2.sh', reason: 'new file made by a command' })
  })
  it('is the reason when nothing else was done', { timeout: wallMs }, async () => {
    const opened = await scene({}, [
      { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'echo made > 2.sh', description: 'make' } }] },
      { text: 'Done' },
    ])
    const ran = await grokbot([...runArguments(opened), '-q'])
    expect(ran.stdout).toMatch(/^why +nothing was left of the change: 2\.sh: new file made by a command \[nothing-left\]$/m)
  })
})

describe('what can go wrong', () => {
  it('a change that no check proves ends with 1, and is kept', { timeout: wallMs }, async () => {
    const opened = await scene({}, [
      { toolCalls: [{ name: 'write', arguments: { file_path: 'value.txt', content: 'still wrong\n' } }] },
      { text: 'Done' },
    ])
    const ran = await grokbot([...runArguments(opened), '--apply', '-q'])
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toMatch(/^failed .*\nwhy +no check proves the change/)
    expect(ran.stdout).toMatch(/not applied: no check proves the change/)
    expect(await opened.git('status', '--porcelain')).toBe('')
    expect(readdirSync(path.join(opened.repo, '.grok/out'))).toContainEqual(expect.stringMatching(/\.patch$/))
  })
  it('a limit of the repository that stops it ends with 4', { timeout: wallMs }, async () => {
    const opened = await scene({ '.github/grok.yml': 'version: 1\nchecks: [sh check.sh]\nlimits:\n  turnsMax: 1\n' })
    const ran = await grokbot([...runArguments(opened), '--json', '-q'])
    const { outcome, reason } = lastObject(ran.stdout)
    expect([ran.exitCode, outcome, reason]).toEqual([4, 'failed', 'the session changed no file; the session ended by its turns limit'])
  })
  it('names the limit also when what was done by then is proven', { timeout: wallMs }, async () => {
    const opened = await scene({ '.github/grok.yml': 'version: 1\nchecks: [sh check.sh]\nlimits:\n  turnsMax: 2\n' })
    const ran = await grokbot([...runArguments(opened), '-q'])
    expect(ran.stdout).toMatch(/^done .*\nwhy +the session ended by its turns limit$/m)
  })
  it('a pulled kill switch refuses with 3', { timeout: wallMs }, async () => {
    const opened = await scene({}, [{ text: 'nothing to do' }])
    await grokbot(['switch', 'pull', '--data', opened.data])
    const refused = await grokbot(runArguments(opened))
    expect([refused.exitCode, refused.stderr]).toEqual([
      3,
      'grokbot: Not started: the operator has switched runs off. [switched-off]\n  switch runs on again: grokbot switch clear\n',
    ])
    const { outcome, reason, code, taskId, patch, usage } = lastObject((await grokbot([...runArguments(opened), '--json'])).stdout)
    expect({ outcome, reason, code, taskId, patch, usage }).toEqual({
      outcome: 'refused',
      reason: 'Not started: the operator has switched runs off.',
      code: 'switched-off',
      taskId: null,
      patch: null,
      usage: { turns: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costMicroUsd: 0 },
    })
    const wrong = await grokbot(['run', '/grok deploy it', '--repo', opened.repo, '--stream-json'])
    expect([wrong.exitCode, lastObject(wrong.stdout).outcome, lastObject(wrong.stdout).reason]).toEqual([
      2,
      'refused',
      expect.stringContaining('`/grok deploy` is not a command'),
    ])
    expect((await grokbot(['switch', 'clear', '--data', opened.data])).stdout).toBe('clear: runs are allowed\n')
  })
})

describe('asked for wrongly, it says what, why and next, and ends with 2', () => {
  let opened: Scene
  beforeAll(async () => {
    opened = await openScene()
    opened.write('empty/nothing.txt', '')
    opened.write('unborn/.git/HEAD', 'ref: refs/heads/main\n')
    for (const name of ['objects', 'refs']) opened.write(`unborn/.git/${name}/.keep`, '')
    opened.write('bad.json', '[\n  {"txt": "a"}\n]\n')
    opened.write('text.json', '[\n  {"text" "a"}\n]\n')
    opened.write('blank.md', '\n\n')
  })
  afterAll(() => opened.remove())
  const at = (name: string) => path.join(opened.folder, name)
  const settings = { limits: defaultLimits(), operator: { version: 1 as const }, prefix: '/grok' }

  /** As real processes: the message, its form, the exit code, and nothing on standard output. */
  const processes: [name: string, argv: () => string[], says: RegExp][] = [
    ['a command that is none', () => ['run', '/grok deploy it', '--repo', opened.repo], /`\/grok deploy` is not a command/],
    [
      'a folder without git',
      () => [...runArguments(opened), '--repo', at('empty')],
      /is not the work tree of a git repository \[repository-missing\]\n {2}name one/,
    ],
    [
      'no model',
      () => ['run', '/grok fix it', '--repo', opened.repo, '--data', opened.data],
      /no model is configured \[model-unset\]\n {2}set OPENAI_API_KEY/,
    ],
    ['a script with a wrong key', () => [...runArguments(opened), '--model-script', at('bad.json')], /bad\.json:2:\d+: 0\.txt/],
    [
      'an unknown option',
      () => [...runArguments(opened), '--nope'],
      /unknown option '--nope' \[command-line\]\n {2}see what there is: grokbot run --help/,
    ],
    [
      'an unknown task',
      () => ['run', '--resume', 't_none', '--data', opened.data, '--model-script', opened.script],
      /there is no task t_none/,
    ],
  ]
  it.each(processes)('%s', { timeout: wallMs }, async (_, argv, says) => {
    const ran = await grokbot(argv())
    expect([ran.exitCode, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toMatch(says)
    expect(ran.stderr).toMatch(/^grokbot: /)
    expect(ran.stderr).not.toMatch(/\n\s+at /)
  })

  it('objects with SHA-256 names, also told as an object', { timeout: wallMs }, async () => {
    const repo = at('sha256')
    await execa('git', ['init', '-q', '--object-format=sha256', repo])
    await execa('git', ['-C', repo, '-c', 'user.name=m', '-c', 'user.email=m', 'commit', '-q', '--allow-empty', '-m', 'first'])
    const ran = await grokbot([...runArguments(opened), '--repo', repo, '--json'])
    const reason = expect.stringMatching(/its objects have SHA-256 names, and only SHA-1 ones are understood here/)
    expect([ran.exitCode, lastObject(ran.stdout)]).toEqual([2, expect.objectContaining({ outcome: 'refused', taskId: null, reason })])
  })

  const calls: [name: string, call: () => unknown, says: RegExp][] = [
    ['no command', () => readCommand([], settings), /there is no command to run/],
    ['words without the prefix', () => readCommand(['fix', 'it'], settings), /this is not a command: fix it/],
    ['two commands', () => readCommand(['/grok fix a\n\n/grok fix b'], settings), /run takes one command at a time/],
    ['a comment command', () => decideRun({ index: 0, word: 'cancel', text: '' }, '/grok', 'on'), /belongs into a comment/],
    ['a folder that is not there', () => readLocalRepository(at('nowhere'), null), /there is no folder .*nowhere/],
    ['a repository without a commit', () => readLocalRepository(at('unborn'), null), /has no commit yet/],
    ['a base that is not there', () => readLocalRepository(opened.repo, 'nope'), /there is no commit nope/],
    ['a base that is an option', () => readLocalRepository(opened.repo, '--upload-pack=x'), /is no name of a commit/],
    ['a script that is no JSON', () => readScript(at('text.json')), /is not a list of turns/],
    ['a script that is a folder', () => readScript(opened.folder), /is no file/],
    ['an empty issue', () => readIssue(at('blank.md')), /blank\.md is empty/],
    ['an issue that is a folder', () => readIssue(opened.folder), /is no file/],
  ]
  it.each(calls)('%s', async (_, call, says) => {
    const error = await Promise.resolve()
      .then(call)
      .then(
        () => null,
        (thrown: unknown) => thrown,
      )
    expect(error).toBeInstanceOf(UsageError)
    expect((error as UsageError).message).toMatch(says)
  })
})

describe('where a run starts from', () => {
  it("is HEAD, a branch, a tag, another remote's branch or a commit on one of them", async () => {
    const opened = await scene()
    await opened.git('tag', 'v1')
    await opened.git('update-ref', 'refs/remotes/origin/next', 'HEAD')
    const first = await opened.git('rev-parse', 'HEAD')
    await opened.git('commit', '-q', '--allow-empty', '-m', 'second')
    const second = await opened.git('rev-parse', 'HEAD')
    const from = async (ref: string | null) => (await readLocalRepository(opened.repo, ref)).base
    expect(await from(null)).toEqual({ sha: second, ref: 'main' })
    expect(await from('main')).toEqual({ sha: second, ref: 'main' })
    expect(await from('v1')).toEqual({ sha: first, ref: 'refs/tags/v1' })
    expect(await from('origin/next')).toEqual({ sha: first, ref: 'refs/remotes/origin/next' })
    expect(await from(first.slice(0, 10))).toEqual({ sha: first, ref: 'main' })
    await opened.git('checkout', '-q', '--detach')
    await opened.git('commit', '-q', '--allow-empty', '-m', 'nowhere')
    await expect(from(null)).rejects.toThrow(/is on no branch/)
  })
  it('is the folder that was named, whatever work tree its configuration names', async () => {
    const opened = await scene()
    opened.write('victim/value.txt', 'broken\n')
    await opened.git('config', 'core.worktree', path.join(opened.folder, 'victim'))
    expect((await readLocalRepository(opened.repo, null)).root).toBe(opened.repo)
  })
  it("is a subfolder's repository, and untracked files are counted", async () => {
    const opened = await scene({ 'deep/er/file': '' })
    opened.write('repo/new.txt', '')
    opened.write('repo/value.txt', 'other bytes\n')
    // Touched and the same: a copied repository is full of such files.
    utimesSync(path.join(opened.repo, 'check.sh'), 1, 1)
    const found = await readLocalRepository(path.join(opened.repo, 'deep/er'), null)
    expect([found.root, found.branch, await found.uncommitted()]).toEqual([opened.repo, 'main', 2])
  })
})
