import path from 'node:path'
import { runSession } from '../../agent/index.ts'
import { effectiveConfig } from '../../config-schema/index.ts'
import type { runProblems } from '../../domain/catalogue/run.ts'
import { emptyTaskState, type TaskState } from '../../domain/index.ts'
import { openMirror } from '../../git/index.ts'
import { answer } from '../../worker/answer.ts'
import { bringUp } from '../../worker/bring-up.ts'
import { decideEnd, decideUnanswered } from '../../worker/decide-end.ts'
import { endOfError } from '../../worker/end-task.ts'
import { treeAfterSetup } from '../../worker/open-task-workspace.ts'
import { prepareBase, profileMaxOf } from '../../worker/prepare-base.ts'
import { beginProbe } from '../../worker/probe-sandbox.ts'
import { runTaskSession } from '../../worker/run-task-session.ts'
import { Stopped } from '../../worker/stopped.ts'
import type { Base, Task } from '../../worker/task.ts'
import { Unreachable, withPatience } from '../../worker/with-patience.ts'
import { makeRepository } from '../git/scene.ts'
import { accepted, payloads } from '../ledger/samples.ts'
import type { Place, Provocations, Provoked } from './provocation.ts'
import { endedBy, said, settled, sha, stateOf, taskOf } from './task-of.ts'

/** The end of a road that was walked to its end. */
function walked(change: Partial<TaskState>, kind: 'pull-request' | 'patch' | 'unknown' | null = 'patch'): Provoked {
  const state = stateOf(change)
  const pull = { kind: 'pull-request', number: 13, url: '', draft: true, branch: 'grok/fix-12', sha: sha('1') } as const
  return said(state, decideEnd(state, kind === null ? null : kind === 'pull-request' ? pull : { kind, reason: '' }))
}

/** What a person asked for is no problem in the thread: its code stands where programs and operators read it. */
function wished(cancel: NonNullable<TaskState['cancel']>): Provoked {
  const state = stateOf({ cancel })
  const { code, report } = said(state, decideEnd(state, null))
  return { code, words: report }
}

const asked = { by: '@mona', reason: 'asked to stop', at: 1 }

/** A road that was left, for whatever is thrown there. */
async function left(call: () => unknown, state = stateOf({ change: null })): Promise<Provoked> {
  try {
    await call()
  } catch (error) {
    return said(state, endOfError(state, error))
  }
  return { code: undefined, words: '' }
}

function unanswered(session: TaskState['session']): Provoked {
  const state = stateOf({ session, change: null })
  return said(state, decideUnanswered(state))
}

/** A question whose answer an earlier attempt could not bring to the thread. */
async function answered(state: 'rejected' | 'unknown'): Promise<Provoked> {
  const effects = settled({ kind: 'comment', state, reason: 'GitHub said 403: locked' })
  const turn = { turn: 1, answer: { ...payloads['model.answered'], text: 'It is so.' }, calls: [] }
  const session = { started: null, turns: [turn], openRequest: null, failures: [], ended: payloads['session.ended'] }
  const asks = stateOf({ effects, session, change: null })
  return said(asks, await answer(taskOf(asks, { ports: { github: {} } })))
}

/** The repository is fetched from a folder of this machine. */
async function fetched({ folder }: Place, url: string): Promise<Provoked> {
  const mirror = await openMirror({ dataDir: path.join(folder, 'data'), tenant: 'local', repositoryId: 1 })
  const state = stateOf({ change: null })
  const local = { ...accepted, installationId: null, repository: { ...accepted.repository, url } }
  return await left(() => bringUp(taskOf(state, { accepted: local, limits: { outageTriesMax: 1 } }), mirror, { sha: sha('a') }))
}

/** A session without a price, by which its cost limit could be held. */
async function unpriced(): Promise<Provoked> {
  const state = stateOf({ change: null, session: null })
  const limits = { ...accepted.limits, costMicroUsdMax: 1_000_000 }
  const room = {
    prepare: () => undefined,
    run: (order: Parameters<Task['room']['run']>[0]) => runSession({ ...order.start, recorded: [] }, {} as never),
    close: async () => undefined,
  }
  const base = {
    config: effectiveConfig({ version: 1 }, { kind: 'absent' }),
    ...{ sha: sha('a'), start: { sha: sha('a') }, limits, instructions: [], checks: { commands: [], source: 'none' } },
  } as unknown as Base
  const ports = { model: { baseUrl: '', apiKey: '', model: 'grok-4' }, dataDir: '/nowhere', crashpoint: null }
  return await left(() => runTaskSession(taskOf(state, { room, ports }), base, { workspace: { baseTree: sha('b') } } as never))
}

const check = stateOf().checks.newCodeNewTests
const failing = { ...emptyTaskState().checks, newCodeNewTests: check.map(each => ({ ...each, exitCode: 1 })) }
const unproven = (reason: string) => ({ verdict: { verdict: 'unproven' as const, reasons: [reason] } })
const noChange = { verdict: { verdict: 'no-change' as const, reasons: [] }, checks: emptyTaskState().checks }
const emptied = { ...payloads['change.collected'], files: [], leftOut: [], refused: [] }

export const runProvocations: Provocations<keyof typeof runProblems> = {
  cancelled: () => wished(asked),
  superseded: () => wished({ ...asked, kind: 'superseded', reason: 'replaced by a newer fix' }),
  'thread-closed': () => wished({ ...asked, kind: 'closed', reason: '#12 was closed' }),
  'switched-off-meanwhile': () => left(() => Promise.reject(new Stopped('switched-off'))),
  'session-stopped': () => walked({ session: endedBy('cancelled') }),
  'session-lost': () => walked({ session: null }),
  'time-up': () => left(() => Promise.reject(new Stopped('deadline'))),
  'turns-used': () => walked({ session: endedBy('turns'), ...unproven('`npm test` fails') }),
  'tokens-used': () => walked({ session: endedBy('tokens'), ...noChange, change: emptied }),
  'cost-used': () => unanswered(endedBy('cost')),
  repeating: () => unanswered(endedBy('repetition')),
  'model-key': () => walked({ session: endedBy('model-error', 'unauthorized') }),
  'model-missing': () => walked({ session: endedBy('model-error', 'not-found') }),
  'model-credit': () => walked({ session: endedBy('model-error', 'quota') }),
  'model-limiting': () => walked({ session: endedBy('model-error', 'rate-limited') }),
  'model-too-long': () => walked({ session: endedBy('model-error', 'context-length') }),
  'model-silent': () => unanswered(endedBy('model-error', 'connect')),
  'model-broken': () => walked({ session: endedBy('model-error', 'of another version') }),
  'model-price-unset': unpriced,
  'model-refused': () => walked({ session: endedBy('refused') }),
  'no-change': () => walked({ ...noChange, change: emptied }, null),
  'nothing-left': () => walked({ ...noChange, change: { ...emptied, leftOut: [{ path: 'log.txt', reason: 'made by a command' }] } }, null),
  'no-answer': () => unanswered(endedBy('answer')),
  'answer-not-posted': () => answered('rejected'),
  'answer-unknown': () => answered('unknown'),
  'nothing-delivered': () => walked({}, null),
  'delivery-unknown': () => walked({}, 'unknown'),
  'setup-failed': () => walked({ ...unproven('setup failed'), setup: { ...payloads['setup.settled'], exitCode: 1 } }),
  'checks-missing': () => walked({ ...unproven('no check is configured'), checks: emptyTaskState().checks }, 'pull-request'),
  'checks-fail': () => walked({ ...unproven('`npm test` fails'), checks: failing }),
  unproven: () => walked(unproven('`npm test` passes, but ran no test')),
  'commit-gone': async place => await fetched(place, makeRepository(place.folder, { 'a.txt': 'a' })),
  'fetch-failed': place => fetched(place, '/nowhere'),
  'github-away': () => {
    const task = taskOf(stateOf(), { limits: { outageTriesMax: 1 } })
    return left(() => withPatience(task, 'fetching the repository', () => Promise.reject(new Unreachable('no route'))))
  },
  'sandbox-refused': ({ folder }) => {
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const limits = { policy: 'required', sharedDir: path.join(folder, 'shared'), wallMs: 9_000, limits: {} } as const
    return left(() => beginProbe({ ...limits, user, masked: [], roots: [], readHost: false }, 'none such', path.join(folder, 'run')).report)
  },
  'profile-narrowed': () => {
    const granted = { ...accepted, grant: { ...accepted.grant, profile: 'devbox' } }
    const state = stateOf({ accepted: { ...granted, actor: 'github:7', at: 1 }, checks: emptyTaskState().checks })
    const settings = { ...taskOf(state).settings, operator: { version: 1 as const, sandbox: { profile: 'devbox' as const } } }
    return left(() => profileMaxOf(taskOf(state, { settings, ports: { tenants: 'several' } })))
  },
  'attempts-died': () => left(() => prepareBase(taskOf(stateOf(), { walk: 'end-only', attempt: 6 }))),
  'tree-refused': () => left(() => treeAfterSetup({ kind: 'refused', path: 'big.bin', reason: 'is larger than a tree may hold' })),
  'task-broken': () => left(() => Promise.reject(new Error('disk I/O error'))),
}
