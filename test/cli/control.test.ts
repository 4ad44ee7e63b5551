import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { fixingScript, grokbot, lastObject, nextEvent, openScene, runArguments, type Scene, start } from './scene.ts'

const wallMs = 120_000
/** From the recorded wish to the recorded end of the session; keeping the work (a tree, the patch, the bundle) comes after. */
const stopMsMax = 2_000

/** A script that mends the file and then sits in a command until somebody ends it. */
const sittingScript = [
  ...fixingScript.slice(0, 2),
  {
    toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'echo sitting; sleep 100', description: 'wait', timeout: 100_000 } }],
  },
  { text: 'Say fixed' },
]

/** Starts a run and waits until its session is inside the sitting command. */
async function startSitting(
  files: Readonly<Record<string, string>> = {},
): Promise<{ opened: Scene; running: ReturnType<typeof start>; taskId: string }> {
  const opened = await openScene(files, sittingScript)
  onTestFinished(opened.remove)
  const running = start([...runArguments(opened), '--stream-json'])
  onTestFinished(() => void running.kill('SIGKILL'))
  const event = await nextEvent(running, ({ type, verb }) => type === 'tool-started' && verb === 'run')
  await sleep(500)
  return { opened, running, taskId: String(event.taskId) }
}

async function typesOf({ data }: Scene, taskId: string): Promise<string[]> {
  const { events } = JSON.parse((await grokbot(['replay', taskId, '--json', '--data', data])).stdout)
  return events.map((event: { type: string }) => event.type)
}

it('stop ends a running session from another process within two seconds and keeps its work', { timeout: wallMs }, async () => {
  const { opened, running, taskId } = await startSitting()
  const stopped = await grokbot(['stop', taskId, '--json', '--data', opened.data])
  expect(stopped.exitCode, stopped.stderr).toBe(0)
  const [each] = JSON.parse(stopped.stdout)
  expect(each).toEqual({ taskId, state: 'ended', outcome: 'cancelled', afterMs: expect.any(Number), patch: null })
  const { events } = JSON.parse((await grokbot(['replay', taskId, '--json', '--data', opened.data])).stdout)
  const atOf = (type: string) => events.find((event: { type: string }) => event.type === type).at
  expect(atOf('session.ended') - atOf('cancel.requested')).toBeLessThanOrEqual(stopMsMax)
  const ended = await running
  expect(ended.exitCode).toBe(130)
  const shown = JSON.parse((await grokbot(['runs', 'show', taskId, '--json', '--data', opened.data])).stdout)
  expect(shown.result).toMatchObject({
    outcome: 'cancelled',
    reason: 'cancelled by the operator',
    code: 'cancelled',
    files: [{ path: 'value.txt' }],
  })
  expect(existsSync(shown.result.patch)).toBe(true)
  expect((await grokbot(['stop', taskId, '--data', opened.data])).stdout).toBe(`${taskId} was over already: cancelled\n`)
})

it('a pulled switch ends a running command within two seconds, keeps the work, and is the reason', { timeout: wallMs }, async () => {
  const { opened, running, taskId } = await startSitting()
  const pulled = JSON.parse((await grokbot(['switch', 'pull', '--json', '--data', opened.data])).stdout)
  const result = lastObject((await running).stdout)
  expect([result.outcome, result.reason, result.files]).toEqual([
    'cancelled',
    'the operator switched runs off',
    [{ path: 'value.txt', added: 1, removed: 1 }],
  ])
  expect(readFileSync(String(result.patch), 'utf8')).toContain('+fixed\n')
  const { events } = JSON.parse((await grokbot(['replay', taskId, '--json', '--data', opened.data])).stdout)
  const ended = events.find((event: { type: string }) => event.type === 'session.ended').at
  expect(ended - Date.parse(pulled.since)).toBeLessThanOrEqual(stopMsMax)
})

it('an interrupt does the same from inside and ends with 130', { timeout: wallMs }, async () => {
  const { opened, running, taskId } = await startSitting()
  running.kill('SIGINT')
  const ended = await running
  expect(ended.exitCode).toBe(130)
  const shown = JSON.parse((await grokbot(['runs', 'show', taskId, '--json', '--data', opened.data])).stdout)
  expect(shown.outcome).toBe('cancelled')
  expect(readdirSync(path.join(opened.repo, '.grok/out')).sort()).toEqual(['.gitignore', `${taskId}.json`, `${taskId}.patch`])
})

it('an interrupt and another at once leave the work to --resume, which asks nothing, runs nothing and writes the patch', {
  timeout: wallMs,
}, async () => {
  const { opened, running, taskId } = await startSitting({ '.github/grok.yml': 'version: 1\nsetup: ["true"]\nchecks: [sh check.sh]\n' })
  running.kill('SIGINT')
  await sleep(30)
  running.kill('SIGINT')
  expect((await running).exitCode).toBe(130)
  expect(existsSync(path.join(opened.repo, '.grok'))).toBe(false)
  const before = await typesOf(opened, taskId)
  const resumed = await grokbot(['run', '--resume', taskId, '--data', opened.data, '--model-script', opened.script, '--json'])
  const result = lastObject(resumed.stdout)
  expect([resumed.exitCode, result.outcome, result.reason, result.files]).toEqual([
    130,
    'cancelled',
    'cancelled by SIGINT',
    [{ path: 'value.txt', added: 1, removed: 1 }],
  ])
  expect(readFileSync(String(result.patch), 'utf8')).toContain('+fixed\n')
  const after = (await typesOf(opened, taskId)).slice(before.length)
  // The call that was cut off is settled by whichever process came to it.
  expect(after.filter(type => type !== 'tool.settled')).toEqual(['attempt.started', 'session.ended', 'change.collected', 'task.ended'])
})

it('a change that was collected and not written when its process died is written by stop', { timeout: wallMs }, async () => {
  const opened = await openScene({})
  onTestFinished(opened.remove)
  await grokbot(runArguments(opened), { env: { GROKBOT_CRASHPOINT: 'event.change.collected.after' } })
  const [taskId = ''] = readdirSync(path.join(opened.data, 'tasks'))
  expect(existsSync(path.join(opened.data, 'tasks', taskId, 'change.patch'))).toBe(false)
  const stopped = await grokbot(['stop', taskId, '--data', opened.data])
  const patch = path.join(opened.repo, '.grok/out', `${taskId}.patch`)
  expect(stopped.stdout).toMatch(/ended after .*: cancelled; the work so far: /)
  expect(stopped.stdout).toContain(patch)
  expect(readFileSync(patch, 'utf8')).toContain('+fixed\n')
})

it('dead runs are ended by stop one after another, and one whose turn does not come within the wait keeps its work for the next', {
  timeout: wallMs,
}, async () => {
  const opened = await openScene({})
  onTestFinished(opened.remove)
  for (let run = 0; run < 3; run++) await grokbot(runArguments(opened), { env: { GROKBOT_CRASHPOINT: 'event.change.collected.after' } })
  const ids = readdirSync(path.join(opened.data, 'tasks')).sort()
  const stopAll = async (wait: string) =>
    JSON.parse((await grokbot(['stop', '--all', '--wait', wait, '--json', '--data', opened.data])).stdout)
  expect(await stopAll('0')).toEqual(ids.map(() => expect.objectContaining({ state: 'asked', outcome: null, patch: null })))
  const stopped: { taskId: string; state: string; outcome: string; patch: string }[] = await stopAll('100')
  expect(stopped.map(({ taskId, state, outcome }) => [taskId, state, outcome]).sort()).toEqual(ids.map(id => [id, 'ended', 'cancelled']))
  for (const { patch } of stopped) expect(readFileSync(patch, 'utf8')).toContain('+fixed\n')
  const spans: [number, number][] = []
  for (const id of ids) {
    const { events } = JSON.parse((await grokbot(['replay', id, '--json', '--data', opened.data])).stdout)
    const timesOf = (type: string) =>
      events.filter((event: { type: string }) => event.type === type).map((event: { at: number }) => event.at)
    spans.push([timesOf('attempt.started').at(-1), timesOf('task.ended')[0]])
  }
  spans.sort(([a], [b]) => a - b)
  for (const [index, [begun]] of spans.slice(1).entries()) expect(begun).toBeGreaterThanOrEqual(spans[index]?.[1] ?? 0)
})

it('a task whose process was killed goes on with --resume, without asking or running again what was recorded', {
  timeout: wallMs,
}, async () => {
  const { opened, running, taskId } = await startSitting()
  running.kill('SIGKILL')
  await running
  const resumed = await grokbot(['run', '--resume', taskId, '--data', opened.data, '--model-script', opened.script, '--json'])
  expect(resumed.exitCode, resumed.stderr).toBe(0)
  const result = lastObject(resumed.stdout)
  expect(result).toMatchObject({ taskId, outcome: 'succeeded', usage: { turns: 4 } })
  expect(resumed.stderr).toMatch(/goes on as attempt 2/)
  const { events, chain } = JSON.parse((await grokbot(['replay', taskId, '--json', '--data', opened.data])).stdout)
  expect(chain.kind).toBe('verifies')
  const answers = events
    .filter((event: { type: string }) => event.type === 'model.answered')
    .map((event: { text: string }) => event.text.slice(0, 6))
  expect(answers).toEqual(['turn 1', 'turn 2', 'turn 3', 'turn 4'])
  expect(events.filter((event: { text: string }) => /run_terminal_command interrupted/.test(event.text))).toHaveLength(1)
  const again = await grokbot(['run', '--resume', taskId, '--data', opened.data, '--model-script', opened.script])
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('this task has ended already')])
})

it('a dead task is ended by stop, and its contents can be exported, erased, and still verify', { timeout: wallMs }, async () => {
  const { opened, running, taskId } = await startSitting()
  const early = await grokbot(['data', 'erase', taskId, '--data', opened.data])
  expect([early.exitCode, early.stderr]).toEqual([
    3,
    `grokbot: ${taskId} has not ended, so it can not be erased [task-open]\n  stop it first: grokbot stop ${taskId}\n`,
  ])
  running.kill('SIGKILL')
  await running
  const stopped = await grokbot(['stop', '--all', '--json', '--data', opened.data])
  const patch = path.join(opened.repo, '.grok/out', `${taskId}.patch`)
  expect(JSON.parse(stopped.stdout)).toMatchObject([{ taskId, state: 'ended', outcome: 'cancelled', patch }])
  expect(readFileSync(patch, 'utf8')).toContain('+fixed\n')
  const exported = JSON.parse((await grokbot(['data', 'export', taskId, '--data', opened.data])).stdout)
  expect(exported).toMatchObject({ format: 'grokbot export v1', chain: { kind: 'verifies' }, task: { taskId } })
  expect(exported.events[0]).toMatchObject({ header: { type: 'task.accepted' }, payload: { command: { text: 'the value' } } })
  const erased = await grokbot(['data', 'erase', taskId, '--json', '--data', opened.data])
  const { chain } = lastObject(erased.stdout) as { chain: { kind: string; events: number; erased: number } }
  expect(chain).toMatchObject({ kind: 'verifies', events: exported.events.length, erased: exported.events.length })
  const shown = await grokbot(['runs', 'show', taskId, '--data', opened.data])
  expect(shown.stdout.split('\n').map(line => line.split(/ +/)[0])).toEqual(['task', 'in', 'ended', 'erased', 'bundle', ''])
  expect(JSON.parse((await grokbot(['runs', 'show', taskId, '--json', '--data', opened.data])).stdout).result).toBeNull()
  expect(existsSync(path.join(opened.data, 'git/tasks', taskId))).toBe(false)
  const replayed = await grokbot(['replay', taskId, '--data', opened.data])
  expect(replayed.stdout).not.toContain('the value')
  expect(replayed.stdout).toMatch(/chain {2}the chain verifies/)
  const cwd = mkdtempSync(path.join(opened.folder, 'elsewhere-'))
  rmSync(path.join(opened.repo, '.grok'), { recursive: true })
  const resumed = await grokbot(
    ['run', '--resume', taskId, '--repo', opened.repo, '--data', opened.data, '--model-script', opened.script],
    { cwd },
  )
  expect([resumed.exitCode, resumed.stdout, resumed.stderr]).toEqual([
    2,
    '',
    `grokbot: the task ${taskId} ended as cancelled and was erased; there is nothing to go on with or to show [task-erased]\n  give the command again: grokbot run\n`,
  ])
  expect([readdirSync(cwd), existsSync(path.join(opened.repo, '.grok'))]).toEqual([[], false])
})

it('the kill switch, pulled from another process, ends a running session', { timeout: wallMs }, async () => {
  const opened = await openScene({}, [...Array.from({ length: 40 }, () => fixingScript[0] ?? {}), { text: 'done' }])
  onTestFinished(opened.remove)
  const running = start([...runArguments(opened), '--stream-json'])
  onTestFinished(() => void running.kill('SIGKILL'))
  await nextEvent(running, ({ type }) => type === 'tool-settled')
  const pulled = await grokbot(['switch', 'pull', '--json', '--data', opened.data])
  expect(lastObject(pulled.stdout)).toMatchObject({ switch: 'runs', state: 'pulled', since: expect.any(String) })
  expect((await running).exitCode).not.toBe(0)
})

it('replay says where a chain is broken, interprets nothing of it, and ends with 1', { timeout: wallMs }, async () => {
  const opened = await openScene({}, [{ text: 'nothing to do' }])
  onTestFinished(opened.remove)
  const { taskId } = lastObject((await grokbot([...runArguments(opened), '--json', '-q'])).stdout)
  const database = new Database(path.join(opened.data, 'ledger.db'))
  database.prepare("update events set actor = 'somebody else' where seq = 3").run()
  database.close()
  const replayed = await grokbot(['replay', String(taskId), '--data', opened.data])
  expect([replayed.exitCode, replayed.stdout]).toEqual([
    1,
    `task   ${taskId}\nchain  the chain is broken at event 3: its header was changed\n`,
  ])
})

it('without a ledger there, commands that read one say so', { timeout: wallMs }, async () => {
  const opened = await openScene()
  onTestFinished(opened.remove)
  for (const argv of [
    ['runs', 'list'],
    ['stop', 't_x'],
  ]) {
    const ran = await grokbot([...argv, '--data', opened.data])
    expect([ran.exitCode, ran.stderr]).toEqual([
      2,
      `grokbot: there is no ledger in ${opened.data} [ledger-missing]\n  name the data folder: --data DIR, or set GROKBOT_DATA\n`,
    ])
  }
})
