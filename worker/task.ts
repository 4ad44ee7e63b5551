import type { EffectiveConfig } from '../config-schema/index.ts'
import type { Limits, TaskAccepted } from '../domain/index.ts'
import type { Mirror, Store, Workspace } from '../git/index.ts'
import type { WorkerPorts, WorkerSettings } from './ports.ts'
import type { Probe } from './probe-sandbox.ts'
import type { ProgressComment } from './progress-comment.ts'
import type { SessionRoom } from './session-room.ts'
import type { TaskLog } from './task-log.ts'
import type { Walk } from './walk.ts'

/** One attempt at one task: what every line of the spine is given first. */
export type Task = {
  id: string
  attempt: number
  accepted: TaskAccepted
  walk: Walk
  log: TaskLog
  ports: WorkerPorts
  settings: WorkerSettings
  comment: ProgressComment
  /** The sandbox of the task's profile, being measured; null when an earlier attempt has recorded that. */
  probe: Probe | null
  room: SessionRoom
  /** Everything of this attempt on disk, removed at its end. */
  runDir: string
  /** Everything of this task on disk that outlives an attempt: its store, its patch, its bundle. */
  taskDir: string
  /** UTC milliseconds. */
  deadlineAt: number
  /** Aborted by a cancel, the deadline, a lost lease or a worker that goes; `goOn` tells them apart. */
  stop: AbortSignal
  clearDeadline(): void
}

/** What the parts that are opened last are opened with. */
export type OpeningTask = Omit<Task, 'comment' | 'probe' | 'room'>

/** The commit of the default branch that a task was accepted at, and what its repository says about itself there. */
export type Base = {
  mirror: Mirror
  store: Store
  /** Where configuration and instructions come from: never a pull request's head. */
  sha: string
  start: Start
  /** The operator's and the repository's settings, merged; a broken file counts as the most restrictive one. */
  config: EffectiveConfig
  /** The narrower of the task's own and the repository's limits. */
  limits: Limits
  instructions: readonly { path: string; text: string }[]
  setup: CommandPlan
  checks: CommandPlan
  /** What setup may reach: the registries of the detected ecosystem and what the operator lists. */
  egress: readonly HostPort[]
  /** Those of them that may have a private address; only the operator says so. */
  privateEgress: readonly HostPort[]
}

/**
 * The commit the work is based on: it is checked out, "changed" is measured against it, the cells of evidence compare with it,
 * and the commit continues it. A pull request's head, or the base itself.
 */
export type Start = { sha: string }

export type CommandPlan = { commands: readonly string[]; source: 'configured' | 'detected' | 'none' }

export type HostPort = { host: string; port: number }

export type TaskWorkspace = Workspace
