import path from 'node:path'
import { RequestError } from '@octokit/request-error'
import { effectiveConfig } from '../../config-schema/index.ts'
import type { deliveryProblems } from '../../domain/catalogue/delivery.ts'
import { emptyTaskState, type TaskAccepted, type TaskState } from '../../domain/index.ts'
import { diffTrees, fetchMirror, openMirror, openStore } from '../../git/index.ts'
import { decideEnd } from '../../worker/decide-end.ts'
import { deliver } from '../../worker/deliver.ts'
import type { Base } from '../../worker/task.ts'
import { makeRepository, plainGit, sh } from '../git/scene.ts'
import { accepted, payloads, startedAt } from '../ledger/samples.ts'
import type { Place, Provocations, Provoked } from './provocation.ts'
import { said, settled, sha, stateOf, taskId, taskOf } from './task-of.ts'

const commit = { ...payloads['commit.made'], branch: 'grok/fix-12' }

/** On an issue: what became of the push and of the pull request. */
async function ontoIssue(...effects: Parameters<typeof settled>): Promise<Provoked> {
  return await delivered(stateOf({ effects: settled(...effects) }), {})
}

const refused = (refusal: string) => ontoIssue({ kind: 'push', state: 'rejected', remote: { refusal, said: 'no', sha: '' } })

type Head = Partial<NonNullable<TaskAccepted['pull']>>
const pullOf = (head: Head): NonNullable<TaskAccepted['pull']> => ({
  ...{ headSha: sha('9'), headRef: 'feature', baseRef: 'main', baseSha: sha('a'), fork: false },
  ...head,
})

/** On a pull request, whose state at GitHub is this when it is asked for. */
async function ontoPull(change: Partial<TaskState>, head: Head, standing: object | null, more: Partial<Base> = {}): Promise<Provoked> {
  const effects = [...accepted.grant.effects, 'review' as const]
  const own = { ...accepted, pull: pullOf(head), grant: { ...accepted.grant, effects }, actor: 'github:7', at: startedAt }
  const place = { head: { sha: own.pull.headSha, ref: 'feature', repo: { id: 42 }, ...standingHead(standing ?? {}) } }
  const github = githubWhere({ ...standing, ...place })
  return await delivered(stateOf({ accepted: own, ...change }), { ...more, start: { sha: own.pull.headSha } }, github)
}

const standingHead = (standing: object): object => ('head' in standing ? (standing.head as object) : {})

/** What was settled asks for no token; a folder of this machine asks for none either. */
const unasked = { mint: async () => ({ token: 'token' }) }

async function delivered(state: TaskState, base: Partial<Base>, github: object = unasked): Promise<Provoked> {
  const place = { workspace: { baseTree: state.workspace?.baseTree ?? sha('b') } } as Parameters<typeof deliver>[3]
  const reached = await deliver(taskOf(state, { ports: { github } }), base as Base, { ...commit, tree: state.change?.tree ?? '' }, place)
  return said(state, decideEnd(state, reached))
}

type Standing = { isQueued?: boolean; archived?: boolean; permission?: string; gone?: 'thread' | 'place' } & Record<string, unknown>

/** The requests by which a place and a pull request are looked at again, answered at once. */
function githubWhere({ isQueued = false, archived = false, permission = 'write', gone, ...pull }: Standing): object {
  const data = { state: 'open', merged: false, locked: false, base: { ref: 'main', repo: { id: 42 } }, ...pull }
  const mergeQueueEntry = isQueued ? { position: 1 } : null
  const lost = (what: 'thread' | 'place', answer: object) => async () => {
    if (gone === what) throw notFound
    return { data: answer }
  }
  const rest = {
    pulls: { get: async () => ({ data }) },
    repos: {
      get: lost('place', { archived, id: 42, default_branch: 'main', clone_url: '', private: false }),
      getCollaboratorPermissionLevel: async () => ({ data: { permission } }),
    },
    issues: { get: async ({ issue_number: number }: { issue_number: number }) => await lost('thread', { number, locked: false })() },
  }
  const graphql = async () => ({ repository: { pullRequest: { mergeQueueEntry } } })
  return { mint: async () => ({ token: 'token' }), api: () => ({ rest, graphql }) }
}

const request = { method: 'GET' as const, url: '/', headers: {} }
const notFound = new RequestError('Not Found', 404, { request, response: { status: 404, url: '/', headers: {}, data: {} } })

type Scene = Awaited<ReturnType<typeof makeScene>>
let scene: Promise<Scene> | null = null

/** One for all of them: nothing is written there. */
function openScene({ shared }: Place): Promise<Scene> {
  scene ??= makeScene(shared)
  return scene
}

/** A real repository: a pull request's branch, what a task made of it, and what came onto it meanwhile. */
async function makeScene(folder: string) {
  const project = makeRepository(folder, { 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n' })
  const commitOf = (branch: string, from: string, script: string) => {
    sh(project, `git checkout -q -B ${branch} ${from}; ${script}; git add -A; git commit -q -m ${branch}`)
    return plainGit(project, 'rev-parse', 'HEAD')
  }
  const main = plainGit(project, 'rev-parse', 'HEAD')
  const heads = {
    feature: commitOf('feature', 'main', 'printf "1\\ntwo\\n3\\n" > a.txt'),
    change: commitOf('change', 'feature', 'printf "1\\nzwei\\n3\\n" > a.txt'),
    adding: commitOf('adding', 'feature', 'echo new > new.txt'),
    conflict: commitOf('conflict', 'feature', 'printf "1\\ndeux\\n3\\n" > a.txt'),
    same: commitOf('same', 'feature', 'printf "1\\nzwei\\n3\\n" > a.txt; echo more > b.txt'),
    guarded: commitOf('guarded', 'feature', 'ln -s a.txt CODEOWNERS'),
  }
  const mirror = await openMirror({ dataDir: path.join(folder, 'data'), tenant: 'i99', repositoryId: 42 })
  await fetchMirror(mirror, { url: project })
  const store = openStore({ dataDir: path.join(folder, 'data'), mirror, taskId })
  const treeOf = (head: keyof typeof heads) => plainGit(project, 'rev-parse', `${heads[head]}^{tree}`)
  const changeOf = async (head: keyof typeof heads) => {
    const { files } = await diffTrees(store, treeOf('feature'), treeOf(head))
    return { tree: treeOf(head), files, leftOut: [], refused: [] }
  }
  const base = { mirror, store, config: effectiveConfig({ version: 1 }, { kind: 'absent' }) }
  return { project, main, heads, base, treeOf, changeOf }
}

/** The head that GitHub has is another one: the change is made again on it. */
async function ontoMoved(place: Place, newer: 'conflict' | 'same' | 'guarded' | null): Promise<Provoked> {
  const { project, main, heads, base, treeOf, changeOf } = await openScene(place)
  const repository = { ...accepted.repository, url: project }
  const own = { ...accepted, repository, pull: pullOf({ headSha: heads.feature, baseSha: main }), actor: 'github:7', at: startedAt }
  const remote = { sha: newer === null ? sha('9') : heads[newer] }
  const state = stateOf({
    accepted: own,
    change: await changeOf('change'),
    workspace: { ...payloads['workspace.opened'], baseTree: treeOf('feature') },
    effects: settled({ kind: 'push', state: 'rejected', remote }),
  })
  return await delivered(state, { ...base, start: { sha: heads.feature } })
}

/** A fork's pull request, for which the change would be suggested. */
async function ontoFork(place: Place, made: 'change' | 'adding', effects: TaskState['effects']): Promise<Provoked> {
  const { main, heads, base, changeOf } = await openScene(place)
  const change = await changeOf(made)
  return await ontoPull({ change, effects }, { fork: true, headSha: heads.feature, baseSha: main }, { head: { repo: { id: 7 } } }, base)
}

const failing = stateOf().checks.newCodeNewTests.map(check => ({ ...check, exitCode: 1 }))
const onto = { sha: sha('8'), tree: sha('7') }

export const deliveryProvocations: Provocations<keyof typeof deliveryProblems> = {
  'push-workflows': () => refused('workflows'),
  'push-protected': () => refused('protected'),
  'push-unsigned': () => {
    const push = { kind: 'push', state: 'rejected', remote: { refusal: 'unsigned', said: 'no', sha: '' } } as const
    return ontoIssue(push, { ...push, ordinal: 3 })
  },
  'push-denied': () => refused('denied'),
  'push-moved': () => ontoIssue({ kind: 'push', state: 'rejected', reason: 'the branch is elsewhere', remote: { sha: sha('8') } }),
  'push-refused': () => refused('other'),
  'push-not-granted': () => ontoIssue({ kind: 'push', state: 'rejected', reason: 'the App was removed' }),
  'branch-gone': () => ontoPull({ effects: settled({ kind: 'push', state: 'rejected', remote: { sha: '' } }) }, {}, null),
  'pull-request-refused': () => {
    const push = { kind: 'push', state: 'confirmed', remote: { sha: sha('1'), branch: 'grok/fix-12' } } as const
    return ontoIssue(push, { kind: 'pull-request', state: 'rejected', reason: 'GitHub said 422: no' })
  },
  'closed-meanwhile': () => ontoPull({}, {}, { state: 'closed', merged: true }),
  'locked-meanwhile': () => ontoPull({}, {}, { locked: true }),
  'fork-meanwhile': () => ontoPull({}, {}, { head: { repo: null } }),
  'access-gone': () => ontoPull({}, {}, { permission: 'read' }),
  'archived-meanwhile': () => ontoPull({}, {}, { archived: true }),
  'thread-gone': () => ontoPull({}, {}, { gone: 'thread' }),
  'place-gone': () => ontoPull({}, {}, { gone: 'place' }),
  'merge-queue': () => ontoPull({}, {}, { isQueued: true }),
  'moved-again': () => {
    const effects = settled({ kind: 'push', ordinal: 2, state: 'rejected', remote: { sha: sha('6') } })
    return ontoPull({ effects, change: { ...payloads['change.collected'], onto } }, {}, null)
  },
  'head-rewritten': place => ontoMoved(place, null),
  'newer-conflict': place => ontoMoved(place, 'conflict'),
  'newer-has-it': place => ontoMoved(place, 'same'),
  'newer-protected': place => ontoMoved(place, 'guarded'),
  'checks-broken': () => ontoPull({ checks: { ...emptyTaskState().checks, newCodeNewTests: failing } }, {}, null),
  'fork-patch-only': () => {
    const own = { ...accepted, pull: pullOf({ fork: true }), actor: 'github:7', at: startedAt }
    return delivered(stateOf({ accepted: own }), { start: { sha: sha('9') } }, githubWhere({}))
  },
  'fork-moved': () => ontoPull({}, { fork: true }, { head: { sha: sha('8'), repo: { id: 7 } } }),
  'suggestions-not-possible': place => ontoFork(place, 'adding', {}),
  'suggestions-refused': place => ontoFork(place, 'change', settled({ kind: 'review', state: 'rejected', reason: 'GitHub said 422: no' })),
}
