import type { EffectKind, EffectState, Payload } from '../domain/index.ts'
import { type EffectKindRow, effectKinds } from './effect-kinds.ts'
import type { EffectPorts, Settled } from './effect-ports.ts'
import { intentSchemas } from './intents.ts'
import { type Effect, openContext, readBackTwice } from './read-back.ts'

type Settlement = Omit<Payload<'effect.settled'>, 'effectId'>

export async function settle(effect: Pick<Effect, 'id'>, settlement: Settlement, ports: Pick<EffectPorts, 'record'>): Promise<Settled> {
  const payload = { effectId: effect.id, ...settlement }
  if ((await ports.record([{ type: 'effect.settled', commandId: `${effect.id}:settled`, payload }])) === 'fenced') return { kind: 'fenced' }
  const { state, remote, reason } = settlement
  return { kind: 'settled', state, remote, reason }
}

/** What was recorded wins over what would be proposed now: the intent must not change under its key. */
export function recordedEffect(task: string, id: string, { kind, key, intent }: Pick<EffectState, 'kind' | 'key' | 'intent'>): Effect {
  return { id, task, kind, key, intent: intentSchemas[kind].parse(intent), row: effectKinds[kind] as EffectKindRow<EffectKind> }
}

/**
 * Settles an effect whose time to be done is over (its task has ended, it was tried for too long) by what is at GitHub.
 * Only looks, sends nothing. One that was never sent is `rejected` with `tooLate`; one that can not be read back becomes,
 * or stays, `unknown`. Throws when GitHub is away: nothing is recorded then.
 */
export async function settleByReadBack(
  task: string,
  id: string,
  known: EffectState,
  tooLate: string,
  ports: EffectPorts,
): Promise<Settled> {
  if (known.state === 'confirmed' || known.state === 'rejected') return asKnown(known.state, known)
  if (known.state === 'prepared')
    return await settle({ id }, { state: 'rejected', remote: {}, reason: tooLate, foundByReadBack: false }, ports)
  const effect = recordedEffect(task, id, known)
  const opened = await openContext(effect, ports, 'look')
  const found = opened.kind === 'open' ? await readBackTwice(effect, opened.context, ports) : opened
  if (found.kind === 'stopped') return { kind: 'stopped', sent: true }
  if (found.kind === 'found')
    return await settle(effect, { state: 'confirmed', remote: found.remote, reason: '', foundByReadBack: true }, ports)
  if (found.kind === 'refused') {
    if (known.state === 'unknown') return asKnown('unknown', known)
    return await settle(effect, { state: 'unknown', remote: {}, reason: found.reason, foundByReadBack: true }, ports)
  }
  const { reason, remote } = found.kind === 'absent' ? { reason: `it is not there, and ${tooLate}`, remote: {} } : found
  return await settle(effect, { state: 'rejected', remote, reason, foundByReadBack: true }, ports)
}

export function asKnown(state: 'confirmed' | 'rejected' | 'unknown', { remote, reason }: EffectState): Settled {
  return { kind: 'settled', state, remote: remote ?? {}, reason }
}
