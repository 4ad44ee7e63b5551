import { runSession, type SessionPorts, type SessionResult } from '../agent/index.ts'
import { openSqliteLedger } from '../ledger/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { openTaskSandbox, workOptions } from './open-task-sandbox.ts'
import { restoreTree } from './restore-tree.ts'
import { sandboxWhenOpen } from './sandbox-when-open.ts'
import type { FromSession, SessionOrder } from './session-order.ts'
import { openSnapshotTaker, type SnapshotTaker } from './take-snapshots.ts'
import { fencedOrThrow, openTaskLog, type TaskLog } from './task-log.ts'
import { writtenPaths } from './written-paths.ts'

/**
 * One session from its order to its result, on whichever thread this is called. It opens what it needs for itself: a
 * ledger connection bound to its task and attempt, and its sandboxes, which die with this thread.
 */
export async function runOrderedSession(
  order: SessionOrder,
  cancel: AbortSignal,
  post: (message: FromSession) => void,
): Promise<SessionResult> {
  const ledger = openSqliteLedger({ dataDir: order.dataDir, durability: 'process', clock: Date.now })
  try {
    const log = await openTaskLog(ledger, { taskId: order.taskId, attempt: order.attempt, actor: 'session', now: Date.now })
    // The model is asked while it opens.
    const opening = openTaskSandbox(order.place.sandbox, {
      profile: order.start.grant.profile,
      ...workOptions(order.place.workspace, order.runDir),
      files: true,
      poolSize: order.poolSize,
    })
    opening.then(
      () => crashpoint('sandbox.started'),
      () => {},
    )
    const snapshots = openSnapshotTaker(order.place, opening, () => writtenPaths(log.state()))
    try {
      const recorded = await ledger.readEvents(order.taskId)
      return await runSession(
        { ...order.start, recorded },
        sessionPorts(order, {
          log,
          snapshots,
          sandbox: sandboxWhenOpen(opening, order.start.grant.profile),
          cancel,
          post,
          readSwitch: () => ledger.switch('runs'),
        }),
      )
    } finally {
      // Both are always waited for, and what breaks here must not stand in the place of what broke before.
      await Promise.allSettled([snapshots.close(), opening.then(sandbox => sandbox.close())])
    }
  } finally {
    await ledger.close()
  }
}

type Opened = {
  log: TaskLog
  sandbox: SessionPorts['sandbox']
  snapshots: SnapshotTaker
  cancel: AbortSignal
  post(message: FromSession): void
  readSwitch(): Promise<{ value: string; at: number } | null>
}

function sessionPorts(order: SessionOrder, { log, sandbox, snapshots, cancel, post, readSwitch }: Opened): SessionPorts {
  return {
    record: events => log.record(...events).then(() => 'recorded' as const, fencedOrThrow),
    sandbox,
    model: order.endpoint,
    snapshot: snapshots.take,
    restore: tree => restoreTree(order.place, tree ?? order.baselineTree),
    killSwitch: async () =>
      (await readSwitch())?.value === 'pulled' ? { kind: 'pulled', reason: 'the operator switched runs off' } : { kind: 'clear' },
    now: Date.now,
    random: Math.random,
    cancel,
    progress: update => post({ kind: 'progress', update }),
  }
}
