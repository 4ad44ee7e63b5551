import type { EffectKind, EffectState, NewEvent, Payload } from '../domain/index.ts'
import { classifyError, type Octokit, type Permissions, type RequestFault, updateComment } from '../github/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { type EffectContext, type EffectKindRow, effectKinds, type GitPort, type Remote } from './effect-kinds.ts'
import { type EffectProposal, effectId, type Intent, intentSchemas, preparedEvent } from './intents.ts'
import { renderMarker } from './marker.ts'

/** What applying needs of its half (app or worker). All methods may throw when the ledger or GitHub's mint is away. */
export type EffectPorts = {
  /** Appends to the task's log; `fenced`: a newer attempt owns the task and nothing more may be written anywhere. */
  record(events: readonly NewEvent[]): Promise<'recorded' | 'fenced'>
  /** Asked right before every send. */
  holds(): Promise<boolean>
  mint(request: { installationId: number; repositoryId: number; permissions: Permissions }): Promise<string>
  api(token: string): Octokit
  botLogin(): Promise<string>
  git: GitPort
  markerKey: Uint8Array
  sleep(ms: number): Promise<void>
  readBackGapMs: number
}

export type Settled =
  | { kind: 'settled'; state: 'confirmed' | 'rejected' | 'unknown'; remote: Record<string, unknown>; reason: string }
  | { kind: 'fenced' }

/** GitHub gave no answer, and what was to be done is not there: waiting helps. The effect stays `dispatched`. */
export class GitHubAway extends Error {
  override readonly name = 'GitHubAway'
}

const triesMax = 3
const laterWaitMsMax = 120_000

/**
 * The road of one effect: prepared → dispatched → confirmed | rejected | unknown. `known` is what the ledger already says
 * about it. An effect that was dispatched without a settlement is read back before anything else, never blindly repeated.
 */
export async function applyEffect(task: string, proposal: EffectProposal, known: EffectState | null, ports: EffectPorts): Promise<Settled> {
  if (known && known.state !== 'prepared' && known.state !== 'dispatched')
    return { kind: 'settled', state: known.state, remote: known.remote ?? {}, reason: known.reason }
  const prepared = preparedEvent(task, proposal)
  if (!known) {
    if ((await ports.record([prepared])) === 'fenced') return { kind: 'fenced' }
  }
  // What was recorded wins over what would be proposed now: the intent must not change under its key.
  const intent = intentSchemas[proposal.kind].parse(known ? known.intent : proposal.intent)
  const effect: Effect = {
    id: effectId(task, proposal),
    task,
    kind: proposal.kind,
    key: prepared.payload.key,
    intent,
    row: effectKinds[proposal.kind] as EffectKindRow<EffectKind>,
  }
  return await dispatch(effect, known, ports)
}

type Effect = { id: string; task: string; kind: EffectKind; key: string; intent: Intent<EffectKind>; row: EffectKindRow<EffectKind> }

async function dispatch(effect: Effect, known: EffectState | null, ports: EffectPorts): Promise<Settled> {
  const context = await openContext(effect, ports)
  let mayExist = known?.state === 'dispatched'
  const before = known?.tries ?? 0
  for (let attempt = before + 1; attempt <= before + triesMax; attempt++) {
    if (mayExist) {
      const found = await readBackTwice(effect, context, ports)
      if (found.kind !== 'absent')
        return settle(
          effect,
          found.kind === 'found' ? 'confirmed' : 'rejected',
          found.remote,
          found.kind === 'other' ? found.reason : '',
          true,
          ports,
        )
    }
    if (!(await ports.holds())) return { kind: 'fenced' }
    if (
      (await ports.record([
        { type: 'effect.dispatched', commandId: `${effect.id}:try-${attempt}`, payload: { effectId: effect.id, try: attempt } },
      ])) === 'fenced'
    )
      return { kind: 'fenced' }
    crashpoint(`effect.${effect.kind}.beforeSend`)
    const sent = await send(effect, context, ports)
    crashpoint(`effect.${effect.kind}.afterSend`)
    if (sent.kind === 'done') return settle(effect, 'confirmed', sent.remote, '', false, ports)
    if (sent.kind === 'rejected') return settle(effect, 'rejected', sent.remote, sent.reason, false, ports)
    if (sent.kind === 'fenced') return { kind: 'fenced' }
    if (sent.kind === 'later') await ports.sleep(Math.min(sent.waitMs, laterWaitMsMax))
    mayExist = sent.kind === 'uncertain'
  }
  const last = await readBackTwice(effect, context, ports)
  if (last.kind === 'found') return settle(effect, 'confirmed', last.remote, '', true, ports)
  // It is known not to be there, so nothing is unknown: the caller may wait and come back.
  if (last.kind === 'absent')
    throw new GitHubAway(`the ${effect.kind} could not be done: no answer in ${triesMax} tries, and it is not there`)
  return settle(effect, 'unknown', last.remote, last.reason, true, ports)
}

type Sent =
  | { kind: 'done'; remote: Remote }
  | { kind: 'rejected'; reason: string; remote: Remote }
  | { kind: 'fenced' }
  | Exclude<RequestFault, { kind: 'rejected' }>

async function send(effect: Effect, context: EffectContext, ports: EffectPorts): Promise<Sent> {
  // The last look before the wire: a worker that lost its lease writes nothing more.
  if (!(await ports.holds())) return { kind: 'fenced' }
  try {
    return await effect.row.send(effect.intent, context)
  } catch (error) {
    const fault = classifyError(error)
    return fault.kind === 'rejected' ? { kind: 'rejected', reason: `GitHub said ${fault.status}: ${fault.message}`, remote: {} } : fault
  }
}

/** Lists lag behind writes, so one "absent" proves nothing: absent twice, a gap apart, is absent. */
async function readBackTwice(effect: Effect, context: EffectContext, ports: EffectPorts) {
  const first = await effect.row.readBack(effect.intent, context)
  if (first.kind !== 'absent') return first
  await ports.sleep(ports.readBackGapMs)
  return await effect.row.readBack(effect.intent, context)
}

async function openContext(effect: Effect, ports: EffectPorts): Promise<EffectContext> {
  const { installationId, repositoryId } = effect.intent
  const token = await ports.mint({ installationId, repositoryId, permissions: effect.row.permissions })
  return {
    task: effect.task,
    key: effect.key,
    api: ports.api(token),
    token,
    botLogin: await ports.botLogin(),
    markerKey: ports.markerKey,
    git: ports.git,
  }
}

async function settle(
  effect: Effect,
  state: Payload<'effect.settled'>['state'],
  remote: Record<string, unknown>,
  reason: string,
  foundByReadBack: boolean,
  ports: EffectPorts,
): Promise<Settled> {
  const payload = { effectId: effect.id, state, remote, reason, foundByReadBack }
  if ((await ports.record([{ type: 'effect.settled', commandId: `${effect.id}:settled`, payload }])) === 'fenced') return { kind: 'fenced' }
  return { kind: 'settled', state, remote, reason }
}

/**
 * Writes a newer text into a comment we created. An edit changes nothing that was not ours, can be repeated, and the last
 * one is an effect of its own, so the ones before it are not recorded; they still ask for ownership first.
 */
export async function applyEdit(
  place: EditPlace,
  commentId: number,
  task: string,
  body: string,
  ports: EffectPorts,
): Promise<'edited' | 'fenced'> {
  const token = await ports.mint({ ...place, permissions: effectKinds.progress.permissions })
  const marker = renderMarker(
    ports.markerKey,
    { kind: 'progress', task, key: 'progress-1' },
    `${place.owner}/${place.repo}#${place.number}`,
  )
  if (!(await ports.holds())) return 'fenced'
  await updateComment(ports.api(token), place, commentId, `${marker}\n${body}`)
  return 'edited'
}

export type EditPlace = { owner: string; repo: string; repositoryId: number; installationId: number; number: number }
