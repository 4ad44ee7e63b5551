import type { Ledger } from '../ledger/index.ts'
import { appLimits } from './limits.ts'

export type ReadinessPorts = {
  ledger: Pick<Ledger, 'probeWrite'>
  /** Who asks, as it stands in the ledger. */
  owner: string
  /** False: what the process before this one stored has not been looked at yet. */
  caughtUp(): boolean
  /** True: the process was told to go. */
  leaving(): boolean
  now(): number
}

/**
 * Whether deliveries may be sent here, as the reason why not; null = they may. The ledger is asked to write something for
 * good, because that is what a delivery needs: a full disk still reads. Work that waits for GitHub does not count: a
 * process that is not ready gets no deliveries, and an outage of GitHub's API must not cost any.
 */
export function createReadiness(ports: ReadinessPorts): () => Promise<string | null> {
  let checkedAt = Number.NEGATIVE_INFINITY
  let writable: Promise<boolean> = Promise.resolve(false)
  const isWritable = () => {
    const now = ports.now()
    if (now - checkedAt < appLimits.checkKeptMs) return writable
    checkedAt = now
    writable = ports.ledger.probeWrite(ports.owner).then(
      () => true,
      () => false,
    )
    return writable
  }
  return async () => {
    if (ports.leaving()) return 'the process is going'
    if (!ports.caughtUp()) return 'what was stored before the start is still being taken'
    return (await isWritable()) ? null : 'the ledger can not be written'
  }
}
