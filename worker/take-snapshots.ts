import type { SnapshotResult } from '../agent/index.ts'
import type { FileHost, Sandbox } from '../sandbox/index.ts'
import { workerLimits } from './limits.ts'
import { openTreeMaker, type TreeMaker, type TreePlace } from './make-tree.ts'

export type SnapshotTaker = { take(): Promise<SnapshotResult>; close(): Promise<void> }

/**
 * The trees of one session, for a later attempt to start from. Most commands change no file, and the kernel can say so in a
 * millisecond: then the tree is the one before. That word is the file host's and serves nothing but this; the change that
 * is proposed in the end is always made from the files themselves.
 */
export function openSnapshotTaker(place: TreePlace, opening: Promise<Sandbox>, written: () => readonly string[]): SnapshotTaker {
  let maker: Promise<TreeMaker> | null = null
  let last: { stamp: string; tree: string } | null = null
  let stampable = true

  async function stampNow(): Promise<Extract<Awaited<ReturnType<FileHost['stamp']>>, { kind: 'stamped' }> | null> {
    const files = stampable ? (await opening).files : null
    const stamp = await files?.stamp('/workspace', workerLimits.stampEntriesMax)
    if (stamp?.kind === 'fault' && stamp.code === 'too-large') stampable = false
    return stamp?.kind === 'stamped' ? stamp : null
  }

  async function make(): ReturnType<TreeMaker['make']> {
    maker ??= openTreeMaker(place, { kind: 'all' }, 1)
    // One that could not be opened is tried anew at the next tree.
    maker.catch(() => {
      maker = null
    })
    return await (await maker).make(written())
  }

  return {
    async take() {
      const now = await stampNow()
      if (now && now.stamp === last?.stamp) return { kind: 'taken', tree: last.tree, live: false }
      const made = await make()
      last = made.kind === 'adopted' && now?.settled ? { stamp: now.stamp, tree: made.tree } : null
      if (made.kind === 'refused') return { kind: 'refused', reason: `${made.path}: ${made.reason}` }
      return { kind: 'taken', tree: made.tree, live: false }
    },
    close: async () => (await maker?.catch(() => null))?.close(),
  }
}
