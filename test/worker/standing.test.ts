import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskAccepted } from '../../domain/index.ts'
import { standingNow } from '../../worker/standing.ts'
import type { Task } from '../../worker/task.ts'
import { openWorker, repo, type WorkerStage } from './open-worker.ts'

let stage: WorkerStage
let accepted: TaskAccepted
beforeAll(async () => {
  stage = await openWorker()
  stage.limits.outageTriesMax = 1
  accepted = await stage.claimed('t_1')
})
afterAll(() => stage.close())

const github = () => stage.simulator.github
/** What is said of it when these are the roles, the command and the operator's list. */
async function said(role: 'read' | 'triage' | 'write', verb = 'fix', bots: number[] = []) {
  github().setPermission(repo, 'mona', role)
  const settings = { ...(await stage.ports.settings()), operator: { version: 1 as const, bots } }
  const task = { id: 't_1', attempt: 1, ports: stage.ports, settings, stop: new AbortController().signal }
  const standing = await standingNow({ ...task, accepted: { ...accepted, command: { ...accepted.command, verb } } } as Task)
  return standing && [standing.code, standing.why]
}

test('a role is enough as long as its command needs no more', async () => {
  expect([await said('write'), await said('triage', 'ask')]).toEqual([null, null])
  expect(await said('triage')).toEqual(['access-gone', '@mona has no write access any more'])
  expect(await said('read', 'ask')).toEqual(['access-gone', '@mona has no triage access any more'])
})

test('a bot that the operator lists needs none', async () => {
  expect([await said('read', 'fix', [2]), await said('read', 'fix', [accepted.requester.id])]).toEqual([
    ['access-gone', expect.any(String)],
    null,
  ])
})

test.each([
  [404, ['thread-gone', 'the issue this was asked on is gone']],
  [410, ['thread-gone', 'the issue this was asked on is gone']],
  [403, ['place-gone', expect.stringMatching(/^this repository can not be read any more \(GitHub said 403: /)]],
])('an issue that is answered %i', async (status, expected) => {
  github().fail({ method: 'GET', path: /issues\/1$/, fault: { kind: 'status', status } })
  expect(await said('write')).toEqual(expected)
})

test('one that can not be read now is no answer', async () => {
  github().fail({ method: 'GET', path: /issues\/1$/, fault: { kind: 'status', status: 500 } })
  await expect(said('write')).rejects.toThrow('reading the repository: GitHub did not answer in 1 tries')
})

test('a place without a token is left to the rungs, which say so themselves', async () => {
  github().fail({ method: 'POST', path: /access_tokens$/, fault: { kind: 'status', status: 404 } })
  expect(await said('read')).toBeNull()
})
