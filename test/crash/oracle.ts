import { type EffectKind, type EffectState, foldTask, type TaskState } from '../../domain/index.ts'
import type { Evidence, TaskEvidence, Thing } from './evidence.ts'

/** The words of what may go wrong; nothing else is a fault, and each can be counted. */
export const faultKinds = [
  'lost',
  'duplicate effect',
  'duplicate model call',
  'duplicate tool run',
  'zombie write',
  'unknown left',
  'stuck',
  'silent wrong',
  'leak',
] as const
export type Fault = { kind: (typeof faultKinds)[number]; words: string }

/** No event for so long, in a task that somebody works on and nobody disturbs. */
const stuckMs = 60_000
/** How much older than the outcome the last words of a comment may be. */
const lateWordsMs = 30_000

/** Everything that is wrong with a run, from the records of those who could see it from outside, and the ledger. Pure. */
export function findFaults(evidence: Evidence): Fault[] {
  const tasks = evidence.tasks.map(task => ({ ...task, state: foldTask(task.events) }))
  return [
    ...say('lost', [...unheard(evidence), ...tasks.flatMap(task => lost(task, evidence))]),
    ...say('duplicate effect', [...sameKey(evidence), ...sameBody(evidence), ...otherTree(evidence), ...toggled(evidence)]),
    ...say('duplicate model call', [...askedAgain(tasks, evidence), ...reaskedTooOften(evidence)]),
    ...say('duplicate tool run', tasks.flatMap(ranAgain)),
    ...say(
      'zombie write',
      tasks.flatMap(task => zombieWrites(task, evidence)),
    ),
    ...say('unknown left', tasks.flatMap(openEffects)),
    ...say(
      'stuck',
      tasks.flatMap(task => stuck(task, evidence)),
    ),
    ...say('silent wrong', [...tasks.flatMap(task => silentWrong(task, evidence)), ...unsettled(evidence)]),
    ...say('leak', [
      ...evidence.leftovers,
      ...evidence.openOwners.map(owner => `an attempt of ${owner} is open`),
      ...strayBranches(tasks, evidence),
    ]),
  ]
}

/** Requests of the model that were made again: with an answer in the ledger they are faults, cut off by a crash they are not. */
export function reaskedOf({ modelRequests }: Pick<Evidence, 'modelRequests'>): number {
  return modelRequests.length - new Set(modelRequests.map(({ hash }) => hash)).size
}

type Folded = TaskEvidence & { state: TaskState }

function say(kind: Fault['kind'], words: readonly string[]): Fault[] {
  return words.map(each => ({ kind, words: each }))
}

/** Answered 2xx, and neither a task nor a refusal. */
function unheard({ asked, tasks }: Evidence): string[] {
  const heard = new Set(tasks.map(({ events }) => commentOfFirst(events)))
  return asked
    .filter(({ accepted, commentId }) => accepted && !heard.has(commentId))
    .map(({ commentId }) => `the command of comment ${commentId}`)
}

export function commentOfFirst([first]: TaskEvidence['events']): number | null {
  if ((first?.type !== 'task.accepted' && first?.type !== 'task.refused') || first.payload === null) return null
  return first.payload.commentId ?? first.payload.source?.id ?? null
}

function lost({ taskId, state, hasPatch }: Folded, evidence: Evidence): string[] {
  const effects = Object.values(state.effects)
  if (state.outcome === null) return [`${taskId} has no outcome`]
  const confirmed = effects.filter(effect => effect.state === 'confirmed')
  const gone = confirmed
    .filter(effect => !isThere(effect, evidence))
    .map(effect => `${taskId}: ${effect.kind} ${effect.key} is not at GitHub`)
  const results = confirmed.filter(({ kind, attempt }) => attempt > 0 && isResult[kind])
  const isPromised = state.outcome.outcome === 'succeeded' && state.accepted?.delivery === 'github' && state.attempts.length > 0
  if (isPromised && results.length === 0) gone.push(`${taskId} succeeded and nothing of it is at GitHub`)
  const isKept = hasPatch || confirmed.some(({ kind }) => kind === 'push' || kind === 'review')
  if ((state.change?.files.length ?? 0) > 0 && !isKept) gone.push(`${taskId}: its change is in no branch and no patch`)
  return gone
}

const isResult: Record<EffectKind, boolean> = {
  ...{ push: true, 'pull-request': true, review: true, comment: true, reply: true },
  ...{ progress: false, reaction: false, 'check-run': false },
}
const thingOf: Record<Exclude<EffectKind, 'push'>, Thing['kind']> = {
  ...{ progress: 'comment', comment: 'comment', reply: 'reply', review: 'review' },
  ...{ 'pull-request': 'pull', 'check-run': 'check-run', reaction: 'reaction' },
}

function isThere({ kind, remote, intent }: EffectState, { things, branches, pushes }: Evidence): boolean {
  if (kind === 'push') {
    const branch = String(intent['branch'])
    return branches[branch] !== undefined && pushes.some(push => push.branch === branch && push.sha === remote?.['sha'])
  }
  const id = remote?.[kind === 'pull-request' ? 'number' : 'id']
  return things.some(thing => thing.kind === thingOf[kind] && thing.id === id)
}

const marker = /^<!-- grokbot:v1 kind=(\S+) task=(\S+) key=(\S+) /

function keyOf({ kind, target, body }: Thing): string | null {
  if (kind === 'check-run') return `${kind} ${target} ${body.split(' ')[0]}`
  const found = marker.exec(body)
  return found ? found.slice(1, 4).join(' ') : null
}

function sameKey({ things }: Evidence): string[] {
  return repeatedIn(things.flatMap(thing => keyOf(thing) ?? [])).map(key => `two of ${key}`)
}

/** Catches what lost its marker: two that both have one, and not the same, are two effects that say the same. */
function sameBody({ things }: Evidence): string[] {
  const told = things.filter(({ kind }) => kind !== 'check-run')
  return told.flatMap((thing, index) => {
    const twin = told
      .slice(index + 1)
      .find(other => other.kind === thing.kind && other.target === thing.target && plain(other.body) === plain(thing.body))
    const isTwo = twin !== undefined && keyOf(thing) !== null && keyOf(twin) !== null
    return twin === undefined || isTwo ? [] : [`two of one ${thing.kind} on ${thing.target}: ${plain(thing.body).slice(0, 60)}`]
  })
}

function plain(body: string): string {
  const words = body.replace(/<!--[\s\S]*?-->/g, '').replace(/\d+/g, '0')
  return words.replace(/\s+/g, ' ').trim()
}

function otherTree({ pushes }: Evidence): string[] {
  const trees = Map.groupBy(pushes, ({ branch }) => branch)
  return [...trees].flatMap(([branch, moves]) =>
    new Set(moves.map(({ tree }) => tree)).size > 1 ? [`${branch} was pushed with two trees`] : [],
  )
}

/** GitHub says 201 to a reaction that was not there before; one that is taken away and given again tells people twice. */
function toggled({ requests }: Evidence): string[] {
  const onReactions = requests.filter(({ url }) => /\/reactions(\/\d+)?$/.test(url.split('?')[0] ?? ''))
  const made = onReactions.filter(({ method, status }) => method === 'POST' && status === 201).map(({ url }) => url)
  const taken = onReactions.filter(({ method }) => method === 'DELETE')
  return [...repeatedIn(made).map(url => `two reactions by ${url}`), ...taken.map(({ url }) => `a reaction was taken away: ${url}`)]
}

function askedAgain(tasks: readonly Folded[], { modelRequests }: Evidence): string[] {
  const endedAt = new Map<string, number>()
  for (const { events } of tasks)
    for (const event of events) if (event.type === 'model.answered' && event.payload) endedAt.set(event.payload.requestHash, event.at)
  const again = modelRequests.filter(({ hash, at }) => at > (endedAt.get(hash) ?? Number.POSITIVE_INFINITY))
  return again.map(({ hash }) => `request ${hash.slice(0, 12)} was made after its answer was recorded`)
}

function reaskedTooOften(evidence: Evidence): string[] {
  const reasked = reaskedOf(evidence)
  return reasked > evidence.disturbances ? [`${reasked} requests were made again in ${evidence.disturbances} disturbances`] : []
}

/** A command may run once more for each time its result was lost; the session said "interrupted" about each of those. */
function ranAgain({ taskId, state, runs }: Folded): string[] {
  const calls = (state.session?.turns ?? []).flatMap(turn => turn.calls)
  return Object.entries(runs).flatMap(([id, times]) => {
    const lost = calls.filter(({ call, settled }) => call.arguments.includes(`echo ${id} `) && settled?.status === 'interrupted').length
    return times > 1 + lost ? [`${taskId}: ${id} ran ${times} times, ${lost} of them without a result`] : []
  })
}

function zombieWrites({ taskId, events }: Folded, { requests }: Evidence): string[] {
  const starts = events.filter(event => event.type === 'attempt.started')
  return requests.flatMap(({ at, method, url, attempt }) => {
    const [task, number] = attempt?.split('/') ?? []
    if (task !== taskId || method === 'GET' || url.includes('/git-upload-pack')) return []
    const newest = Math.max(0, ...starts.filter(start => start.at < at).map(start => start.attempt))
    return Number(number) < newest ? [`${taskId}: ${method} ${url} by attempt ${number}, after attempt ${newest} had begun`] : []
  })
}

function openEffects({ taskId, state }: Folded): string[] {
  const open = Object.values(state.effects).filter(effect => effect.state !== 'confirmed' && effect.state !== 'rejected')
  return open.map(effect => `${taskId}: ${effect.kind} ${effect.key} is ${effect.state}`)
}

function stuck({ taskId, events, state }: Folded, { calmAt, takenAt }: Evidence): string[] {
  const began = state.attempts[0]?.at
  if (began === undefined) return []
  const from = Math.max(began, calmAt)
  const endedAt = state.outcome?.at ?? takenAt
  const times = [from, ...events.map(({ at }) => at).filter(at => at > from && at < endedAt), endedAt]
  const gaps = times.map((at, index) => at - (times[index - 1] ?? at))
  return Math.max(...gaps) > stuckMs ? [`${taskId}: no event for ${Math.round(Math.max(...gaps) / 1000)} s`] : []
}

function silentWrong(task: Folded, evidence: Evidence): string[] {
  const { taskId, state, needsWorker, bundle, chainFault } = task
  if (state.outcome === null) return []
  const isProven = state.verdict?.verdict === 'proven'
  const checked = state.checks.newCodeNewTests.length > 0
  return [
    ...(isProven && !checked ? [`${taskId} is called proven without a receipt of a check`] : []),
    ...(needsWorker && bundle !== 'verifies' ? [`${taskId}: its bundle ${bundle === 'missing' ? 'is missing' : bundle}`] : []),
    ...(chainFault === null ? [] : [`${taskId}: its chain is ${chainFault}`]),
    ...ownThings(task, evidence).flatMap(thing => staleWords(thing, task)),
  ]
}

/** What a task's effects made, by the id that was recorded. */
function ownThings({ state }: Folded, { things }: Evidence): Thing[] {
  const made = Object.values(state.effects).flatMap(({ kind, remote }) => (kind === 'push' ? [] : [`${thingOf[kind]} ${remote?.['id']}`]))
  return things.filter(({ kind, id }) => made.includes(`${kind} ${id}`))
}

function staleWords({ kind, id, body, at }: Thing, { taskId, state }: Folded): string[] {
  if (kind === 'check-run') return body.includes(' completed ') ? [] : [`${taskId}: a check run says ${body}`]
  const isProgress = Object.values(state.effects).some(effect => effect.kind === 'progress' && effect.remote?.['id'] === id)
  if (kind !== 'comment' || !isProgress || state.outcome === null) return []
  if (/^\*\*grok \S+\*\* — (running|queued|handed back)/m.test(body)) return [`${taskId}: its comment still says that it runs`]
  return at < state.outcome.at - lateWordsMs ? [`${taskId}: its comment is ${state.outcome.at - at} ms older than its outcome`] : []
}

function unsettled({ reserved }: Evidence): string[] {
  return Object.entries(reserved).flatMap(([key, microUsd]) => (microUsd === 0 ? [] : [`${microUsd} of budget ${key} are not settled`]))
}

function strayBranches(tasks: readonly Folded[], { branches }: Evidence): string[] {
  const ours = tasks.flatMap(({ state }) =>
    Object.values(state.effects).flatMap(({ kind, intent }) => (kind === 'push' ? [intent['branch']] : [])),
  )
  return Object.keys(branches).flatMap(branch => (branch.startsWith('grok/') && !ours.includes(branch) ? [`branch ${branch}`] : []))
}

function repeatedIn(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))]
}
