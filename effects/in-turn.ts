import { classifyError, type WriteKind, type WriteLimits, type WritePace } from '../github/index.ts'
import { type EffectPorts, GitHubAway } from './effect-ports.ts'
import { effectsLimits } from './limits.ts'

/** Whose turns, and how far apart they are today. */
export type Writes = {
  pace: WritePace
  limits: WriteLimits
  /** What anybody can cause, such as a refusal, leaves room for results. */
  courtesy?: boolean
}

/**
 * Does one write in the turn of its installation; null = it is none of those that are counted, and waits for nobody. A turn
 * that is too far off is not waited for here: the caller knows better what to do meanwhile.
 */
export async function inTurn<T>(
  installationId: number,
  kind: WriteKind | null,
  { writes, sleep }: Pick<EffectPorts, 'writes' | 'sleep'>,
  work: () => Promise<T>,
): Promise<T | 'stopped'> {
  if (kind === null) return await work()
  const { pace, limits, courtesy = false } = writes
  const wish = { kind: kind === 'content' && courtesy ? ('courtesy' as const) : kind, ticket: Symbol(kind) }
  for (let waitedMs = 0; ; ) {
    const turn = pace.begin(installationId, wish, limits)
    if (turn.kind === 'begun') return await work().finally(turn.ended)
    waitedMs += turn.ms
    if (waitedMs > effectsLimits.turnWaitMsMax) throw new GitHubAway('too much is written for this installation at the moment', turn.ms)
    if ((await sleep(turn.ms)) === 'stopped') return 'stopped'
  }
}

/** A write that can be repeated and is recorded nowhere; ownership is still asked for right before it. */
export async function writeUnrecorded(
  installationId: number,
  ports: Pick<EffectPorts, 'writes' | 'sleep' | 'holds'>,
  write: () => Promise<unknown>,
): Promise<'written' | 'fenced' | 'stopped'> {
  return await inTurn(installationId, 'other', ports, async () => {
    if (!(await ports.holds())) return 'fenced'
    await write().catch(error => {
      heedLimit(installationId, error, ports)
      throw error
    })
    return 'written'
  })
}

/** What GitHub says to one write is for all of its installation. */
export function heedLimit(installationId: number, error: unknown, { writes }: Pick<EffectPorts, 'writes'>): void {
  const fault = classifyError(error)
  if (fault.kind === 'later') writes.pace.leaveAlone(installationId, fault.waitMs)
}
