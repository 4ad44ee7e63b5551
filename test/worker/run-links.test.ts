import { expect, test } from 'vitest'
import { emptyTaskState, type TaskState } from '../../domain/index.ts'
import { applyWords, pageWords, patchWords, runLinks } from '../../worker/run-links.ts'

const link = (taskId: string, acceptedAt: number) => `https://grok.example/r/${taskId}?k=${acceptedAt}`
const state = (visibility: 'public' | 'private', more: object = {}): TaskState => {
  const accepted = { delivery: 'github', at: 7, repository: { visibility } }
  return { ...emptyTaskState(), accepted, ...more } as unknown as TaskState
}
const opened = { workspace: { links: undefined } }
const kept = { workspace: { links: 'artifact' } }
const links = {
  page: 'https://grok.example/r/t_1?k=7',
  patch: 'https://grok.example/r/t_1/change.patch?k=7',
  bundle: 'https://grok.example/r/t_1/bundle.json?k=7',
}

test('links are written where the installation has pages, of a private repository only once it is known not to object', () => {
  const of = (given: TaskState) => runLinks('t_1', given, link)
  expect([state('public'), state('public', kept), state('private'), state('private', opened), state('private', kept)].map(of)).toEqual([
    links,
    links,
    null,
    links,
    null,
  ])
})

test('without pages, and for a local run, there is none, and the words say where the record is', () => {
  const local = state('public', { accepted: { delivery: 'patch', at: 7, repository: { visibility: 'public' } } })
  expect([runLinks('t_1', state('public'), null), runLinks('t_1', local, link)]).toEqual([null, null])
  expect([pageWords(null), applyWords(null), patchWords('t_1', null, 'the patch')]).toEqual([
    '',
    '`git apply --index`',
    'the patch, in the record of this run: `grokbot runs show t_1`',
  ])
})

test('the command that applies a patch is whole for a shell, whatever stands in the address', () => {
  expect([pageWords(links), applyWords(links), patchWords('t_1', links, 'the patch')]).toEqual([
    `[Run page](${links.page}) · [receipts](${links.bundle})`,
    `\`curl -fsSL '${links.patch}' | git apply --index\``,
    `[the patch](${links.patch})`,
  ])
})
