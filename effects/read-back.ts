import type { EffectKind } from '../domain/index.ts'
import { classifyError, type Permissions } from '../github/index.ts'
import type { EffectContext, EffectKindRow, ReadBack } from './effect-kinds.ts'
import type { EffectPorts } from './effect-ports.ts'
import { inTurn } from './in-turn.ts'
import type { Intent } from './intents.ts'

/** One effect with everything that is needed to do it or to find it again. */
export type Effect = { id: string; task: string; kind: EffectKind; key: string; intent: Intent<EffectKind>; row: EffectKindRow<EffectKind> }

export type Opened = { kind: 'open'; context: EffectContext } | { kind: 'refused'; reason: string }

/**
 * A fresh narrow token and what goes with it. `refused`: GitHub gives no token for this place, and asking again would not
 * change that: the App was removed or suspended there, the repository is gone. Throws when GitHub is away, and for 401,
 * which is about the App's own key and says nothing about the place.
 */
export async function openContext(effect: Effect, ports: EffectPorts, purpose: 'send' | 'look'): Promise<Opened> {
  const { installationId, repositoryId } = effect.intent
  const permissions = purpose === 'send' ? effect.row.permissions : readOnly(effect.row.permissions)
  let token: string
  try {
    token = await ports.mint({ installationId, repositoryId, permissions })
  } catch (error) {
    const reason = refusalOf(error)
    if (reason === null) throw error
    return { kind: 'refused', reason }
  }
  const { task, key } = effect
  const { markerKey, git, holds } = ports
  const turn = <T>(write: () => Promise<T>) => turnWhileHeld(installationId, ports, write)
  const botLogin = await ports.botLogin()
  return { kind: 'open', context: { task, key, api: ports.api(token), token, botLogin, markerKey, git, holds, turn } }
}

/** A stop is heard also where no turn has to be waited for. The wait may outlast a lease, so ownership is asked for behind it. */
async function turnWhileHeld<T>(installationId: number, ports: EffectPorts, write: () => Promise<T>): Promise<T | 'stopped' | 'fenced'> {
  if ((await ports.sleep(0)) === 'stopped') return 'stopped'
  return await inTurn(installationId, 'other', ports, async () => ((await ports.holds()) ? await write() : 'fenced'))
}

function readOnly(permissions: Permissions): Permissions {
  return Object.fromEntries(Object.keys(permissions).map(name => [name, 'read']))
}

/**
 * Lists lag behind writes, so one "absent" proves nothing, and a list that is refused once may be given the next time: what
 * is said twice, a gap apart, counts. Of three looks two say the same.
 */
export async function readBackTwice(effect: Effect, context: EffectContext, ports: EffectPorts): Promise<ReadBack | { kind: 'stopped' }> {
  const seen = new Set<ReadBack['kind']>()
  for (;;) {
    const found = await readBack(effect, context)
    if ((found.kind !== 'absent' && found.kind !== 'refused') || seen.has(found.kind)) return found
    seen.add(found.kind)
    if ((await ports.sleep(ports.readBackGapMs)) === 'stopped') return { kind: 'stopped' }
  }
}

/** A list that is refused for good says nothing about what is in it. */
async function readBack(effect: Effect, context: EffectContext): Promise<ReadBack> {
  try {
    return await effect.row.readBack(effect.intent, context)
  } catch (error) {
    const reason = refusalOf(error)
    if (reason === null) throw error
    return { kind: 'refused', reason: `it can not be read back: ${reason}` }
  }
}

/** What GitHub said for good; null: asking again may help. */
function refusalOf(error: unknown): string | null {
  const fault = classifyError(error)
  return fault.kind === 'rejected' && fault.status !== 401 ? `GitHub said ${fault.status}: ${fault.message}` : null
}
