import type { EffectState } from '../domain/index.ts'
import { classifyError, type RequestFault } from '../github/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import type { EffectContext, ReadBack, Remote, Sent } from './effect-kinds.ts'
import { type EffectPorts, GitHubAway, type Settled } from './effect-ports.ts'
import { heedLimit, inTurn } from './in-turn.ts'
import { type EffectProposal, effectId, preparedEvent } from './intents.ts'
import { effectsLimits } from './limits.ts'
import { type Effect, openContext, readBackTwice } from './read-back.ts'
import { asKnown, recordedEffect, settle } from './settle-effect.ts'

/**
 * The road of one effect: prepared → dispatched → confirmed | rejected | unknown. `known` is what the ledger already says
 * about it. An effect that was dispatched without a settlement is read back before anything else, never blindly repeated.
 */
export async function applyEffect(task: string, proposal: EffectProposal, known: EffectState | null, ports: EffectPorts): Promise<Settled> {
  const id = effectId(task, proposal)
  if (known) return await resumeEffect(task, id, known, ports)
  const prepared = preparedEvent(task, proposal)
  if ((await ports.record([prepared])) === 'fenced') return { kind: 'fenced' }
  return await dispatch(recordedEffect(task, id, prepared.payload), null, ports)
}

/** The rest of the road of an effect that the ledger knows: everything that is needed is in what was recorded. */
export async function resumeEffect(task: string, id: string, known: EffectState, ports: EffectPorts): Promise<Settled> {
  if (known.state !== 'prepared' && known.state !== 'dispatched') return asKnown(known.state, known)
  return await dispatch(recordedEffect(task, id, known), known, ports)
}

async function dispatch(effect: Effect, known: EffectState | null, ports: EffectPorts): Promise<Settled> {
  let mayExist = known?.state === 'dispatched'
  let waitMs: number | null = null
  const before = known?.tries ?? 0
  for (let attempt = before + 1; attempt <= before + effectsLimits.triesMax; attempt++) {
    // A token of its own for each try: the one of the try before may be what was refused.
    const opened = await openContext(effect, ports, 'send')
    if (opened.kind === 'refused') return await settleRefused(effect, mayExist, opened.reason, ports)
    if (mayExist) {
      const found = await readBackTwice(effect, opened.context, ports)
      if (found.kind !== 'absent') return await settleFound(effect, found, ports)
    }
    const { installationId } = effect.intent
    const sent = await inTurn(installationId, effect.row.writes(effect.intent), ports, () =>
      sendOnce(effect, attempt, opened.context, ports),
    )
    if (sent === 'stopped') return { kind: 'stopped', sent: mayExist }
    switch (sent.kind) {
      case 'done':
        return await settleDone(effect, sent.remote, ports)
      case 'rejected':
        return settle(effect, { state: 'rejected', remote: sent.remote, reason: sent.reason, foundByReadBack: false }, ports)
      case 'fenced':
        return { kind: 'fenced' }
      case 'stopped':
        return { kind: 'stopped', sent: true }
      case 'later':
        waitMs = sent.waitMs
        if (waitMs > effectsLimits.laterWaitMsMax) throw new GitHubAway(`the ${effect.kind} was not done: ${sent.message}`, waitMs)
        if ((await ports.sleep(waitMs)) === 'stopped') return { kind: 'stopped', sent: false }
    }
    mayExist = sent.kind === 'uncertain'
  }
  return await lookLast(effect, waitMs, ports)
}

async function settleDone(effect: Effect, remote: Remote, ports: EffectPorts): Promise<Settled> {
  const settled = await settle(effect, { state: 'confirmed', remote, reason: '', foundByReadBack: false }, ports)
  crashpoint(`effect.${effect.kind}.settled`)
  return settled
}

async function lookLast(effect: Effect, waitMs: number | null, ports: EffectPorts): Promise<Settled> {
  const opened = await openContext(effect, ports, 'look')
  if (opened.kind === 'refused') return await settleRefused(effect, true, opened.reason, ports)
  const last = await readBackTwice(effect, opened.context, ports)
  // It is known not to be there, so nothing is unknown: the caller may wait and come back.
  if (last.kind === 'absent')
    throw new GitHubAway(`the ${effect.kind} could not be done: no answer in ${effectsLimits.triesMax} tries, and it is not there`, waitMs)
  return await settleFound(effect, last, ports)
}

/** No token for its place: what was never sent is rejected; whether what was sent is there can not be said any more. */
function settleRefused(effect: Effect, mayExist: boolean, reason: string, ports: EffectPorts): Promise<Settled> {
  return settle(effect, { state: mayExist ? 'unknown' : 'rejected', remote: {}, reason, foundByReadBack: false }, ports)
}

async function settleFound(
  effect: Effect,
  found: Exclude<ReadBack, { kind: 'absent' }> | { kind: 'stopped' },
  ports: EffectPorts,
): Promise<Settled> {
  switch (found.kind) {
    case 'stopped':
      return { kind: 'stopped', sent: true }
    case 'found':
      return await settle(effect, { state: 'confirmed', remote: found.remote, reason: '', foundByReadBack: true }, ports)
    case 'other':
      return await settle(effect, { state: 'rejected', remote: found.remote, reason: found.reason, foundByReadBack: true }, ports)
    case 'refused':
      return await settle(effect, { state: 'unknown', remote: {}, reason: found.reason, foundByReadBack: true }, ports)
  }
}

type Tried = Sent | Exclude<RequestFault, { kind: 'rejected' }>

async function sendOnce(effect: Effect, attempt: number, context: EffectContext, ports: EffectPorts): Promise<Tried> {
  if (!(await ports.holds())) return { kind: 'fenced' }
  const payload = { effectId: effect.id, try: attempt }
  if ((await ports.record([{ type: 'effect.dispatched', commandId: `${effect.id}:try-${attempt}`, payload }])) === 'fenced')
    return { kind: 'fenced' }
  crashpoint(`effect.${effect.kind}.beforeSend`)
  const sent = await send(effect, context, ports)
  crashpoint(`effect.${effect.kind}.afterSend`)
  return sent
}

async function send(effect: Effect, context: EffectContext, ports: EffectPorts): Promise<Tried> {
  // The last look before the wire: a worker that lost its lease writes nothing more.
  if (!(await ports.holds())) return { kind: 'fenced' }
  try {
    return await effect.row.send(effect.intent, context)
  } catch (error) {
    heedLimit(effect.intent.installationId, error, ports)
    const fault = classifyError(error)
    if (fault.kind !== 'rejected') return fault
    if (fault.status === 401) return { kind: 'later', waitMs: effectsLimits.staleTokenWaitMs, message: fault.message }
    return { kind: 'rejected', reason: `GitHub said ${fault.status}: ${fault.message}`, remote: {} }
  }
}
