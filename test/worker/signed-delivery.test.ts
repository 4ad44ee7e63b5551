import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskState } from '../../domain/index.ts'
import { type Delivery, openDelivery } from './open-delivery.ts'
import { openWorker, type WorkerStage } from './open-worker.ts'

let stage: WorkerStage
beforeAll(async () => {
  stage = await openWorker()
})
afterAll(() => stage.close())
const timeout = 60_000

const effects = (state: TaskState) => Object.values(state.effects).map(({ kind, key, state: phase }) => `${kind} ${key} ${phase}`)
const wantSignatures = ({ repo }: Delivery) =>
  stage.simulator.github.addRuleset(repo, { branches: ['*', '*/*'], rules: ['required_signatures'] })
const isSigned = ({ repo }: Delivery, sha: string) => stage.simulator.github.state.repositories.get(repo)?.signedCommits.has(sha)

test('where signed commits only are taken, GitHub makes the commit, and it is ours to the byte', { timeout }, async () => {
  const delivery = await openDelivery(stage, {
    base: { 'data.bin': '0', 'folder/file': '1\n', gone: 'x\n', name: 'a file that becomes a folder\n', 'moved.txt': 'one\ntwo\nthree\n' },
    change: {
      'add.sh': { content: 'echo $(($1 + $2))\n', mode: '100755' },
      'data.bin': { content: Buffer.from([0, 255, 13, 10, 0]), mode: '100644' },
      'crlf.txt': 'a\r\nb',
      'nul.txt': 'a\0b',
      empty: '',
      link: { content: 'add.sh', mode: '120000' },
      gone: null,
      'folder/file': null,
      folder: 'a folder that becomes a file\n',
      name: null,
      'name/ä b.txt': '1\n',
      'moved.txt': null,
      'moved/to.txt': 'one\ntwo\nthree\n',
    },
  })
  const state = await delivery.end(async () => wantSignatures(delivery))
  const head = (await delivery.refs())['refs/heads/feature'] ?? ''
  expect(effects(state)).toEqual(['push push-1 rejected', 'push push-3 confirmed', 'comment comment-1 confirmed'])
  expect(await delivery.git('log', '--format=%T %P', '-1', 'feature')).toBe(`${state.commit?.tree} ${delivery.head}`)
  expect(`${await delivery.git('log', '--format=%B', '-1', 'feature')}`.trimEnd()).toBe(state.commit?.message.trimEnd())
  expect([isSigned(delivery, head), state.commit?.sha, state.outcome?.outcome]).toEqual([true, head, 'succeeded'])
  expect(delivery.ours()[0]).toContain(`\`${head.slice(0, 7)}\``)
})

test('so it is for a new branch, and where commits are signed off, it is', { timeout }, async () => {
  const delivery = await openDelivery(stage, { issue: true, base: { '.github/dco.yml': 'require:\n  members: false\n' } })
  const state = await delivery.end(async () => wantSignatures(delivery))
  const branch = state.commit?.branch ?? ''
  const head = (await delivery.refs())[`refs/heads/${branch}`] ?? ''
  expect(effects(state)).toEqual(['push push-1 rejected', 'push push-3 confirmed', 'pull-request pull-request-1 confirmed'])
  expect(await delivery.git('log', '--format=%T %P', '-1', head)).toBe(`${state.commit?.tree} ${delivery.head}`)
  expect([isSigned(delivery, head), state.commit?.sha, state.outcome?.outcome]).toEqual([true, head, 'succeeded'])
  const bot = (await stage.ports.github?.identity())?.botLogin
  expect(await delivery.git('log', '--format=%B', '-1', head)).toContain(
    `\n\nGrokbot-Task: ${delivery.taskId}\nSigned-off-by: ${bot} <${bot}@users.noreply.github.com>`,
  )
})
