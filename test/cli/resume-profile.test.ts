import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteLedger } from '../../ledger/index.ts'
import { grokbot, lastObject, openScene, runArguments, type Scene } from './scene.ts'

const wallMs = 120_000
const operator = (profile: string | null) => JSON.stringify({ version: 1, sandbox: profile === null ? {} : { profile } })

/** A run that is killed at `point` under one operator's profile, and gone on with under another. */
async function killedAndResumed(point: string, before: string | null, after: string | null, again?: string) {
  const opened = await openScene({ '.github/grok.yml': 'version: 1\nsetup: ["true"]\nchecks: [sh check.sh]\n' })
  onTestFinished(opened.remove)
  const file = opened.write('operator.yml', operator(before))
  const killed = await grokbot([...runArguments(opened), '--json'], { env: { GROKBOT_CONFIG: file, GROKBOT_CRASHPOINT: point } })
  expect(killed.stdout).toBe('')
  opened.write('operator.yml', operator(after))
  const [taskId = ''] = readdirSync(path.join(opened.data, 'tasks'))
  const argv = ['run', '--resume', taskId, '--data', opened.data, '--model-script', opened.script, '--json']
  return {
    resumed: await grokbot(argv, { env: { GROKBOT_CONFIG: file, ...(again ? { GROKBOT_CRASHPOINT: again } : {}) } }),
    opened,
    taskId,
  }
}

/** The profile of everything that ran: what was measured, setup, tools and checks. */
async function profilesOf({ data }: Scene, taskId: string): Promise<string[]> {
  const ledger = openSqliteLedger({ dataDir: data, durability: 'durable', clock: Date.now })
  try {
    const payloads = (await ledger.readEvents(taskId)).map(event => event.payload as { sandbox?: { profile: string } | null } | null)
    return [...new Set(payloads.flatMap(payload => (payload?.sandbox ? [payload.sandbox.profile] : [])))]
  } finally {
    await ledger.close()
  }
}

it.each([
  ['before it opened its workspace', 'mirror.fetched', null, 'off', 'workspace'],
  ['with its workspace open', 'model.midStream', 'strict', 'devbox', 'strict'],
])(
  'a profile that was widened later is not for a task that was killed %s',
  { timeout: wallMs },
  async (_, point, before, after, profile) => {
    const { resumed, opened, taskId } = await killedAndResumed(point, before, after)
    expect(resumed.exitCode, resumed.stderr).toBe(0)
    expect(lastObject(resumed.stdout)).toMatchObject({ outcome: 'succeeded', sandbox: { state: 'enforced', profile } })
    expect(await profilesOf(opened, taskId)).toEqual([profile])
  },
)

it('a profile that was narrowed after the first command is the one the result names, and stays', { timeout: wallMs }, async () => {
  const { resumed, opened, taskId } = await killedAndResumed('tree.made', 'workspace', 'strict', 'event.check.settled.before')
  expect(resumed.stdout).toBe('')
  const file = opened.write('operator.yml', operator('workspace'))
  const argv = ['run', '--resume', taskId, '--data', opened.data, '--model-script', opened.script, '--json']
  const last = await grokbot(argv, { env: { GROKBOT_CONFIG: file } })
  expect(lastObject(last.stdout)).toMatchObject({ outcome: 'succeeded', sandbox: { state: 'enforced', profile: 'strict' } })
  expect(await profilesOf(opened, taskId)).toEqual(['workspace', 'strict'])
})

it('a profile that neither holds the recorded one nor is held by it ends the task, and nothing is run', { timeout: wallMs }, async () => {
  const { resumed, opened, taskId } = await killedAndResumed('mirror.fetched', 'strict', 'read-only')
  expect(lastObject(resumed.stdout)).toMatchObject({
    outcome: 'errored',
    reason: "the task was accepted with the profile strict and the operator's is now read-only; no profile is within both",
  })
  expect(await profilesOf(opened, taskId)).toEqual([])
})
