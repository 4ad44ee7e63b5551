import type { Grant } from '../domain/index.ts'
import type { Budget } from './budget.ts'
import type { Chat } from './chat.ts'
import type { FoldedSession } from './fold-session.ts'
import type { GateTables } from './gate/rows.ts'
import type { Journal } from './journal.ts'
import type { SessionLimits } from './limits.ts'
import type { Sampler } from './model/sampler.ts'
import type { ProgressUpdate, SessionPorts } from './ports.ts'
import type { SnapshotKeeper } from './snapshots.ts'
import type { Stop } from './stop.ts'
import type { Taints } from './taints.ts'
import type { TodoList } from './tools/todo.ts'
import type { Tool } from './tools/tool.ts'
import type { Frames } from './untrusted.ts'

/** What the parts of one running session share. Made once, in `run-session.ts`. */
export type SessionContext = {
  ports: SessionPorts
  limits: SessionLimits
  grant: Grant
  tables: GateTables
  repositoryTrusted: boolean
  deadlineAt: number
  tools: ReadonlyMap<string, Tool>
  frames: Frames
  folded: FoldedSession
  stop: Stop
  journal: Journal
  chat: Chat
  sampler: Sampler
  budget: Budget
  snapshots: SnapshotKeeper
  taints: Taints
  todos: TodoList
  /** Ids of all calls of the conversation. */
  callIds: Set<string>
  progress(update: ProgressUpdate): void
  /** Records the session's first events, unless an earlier attempt did. False: fenced. */
  begin(): Promise<boolean>
}
