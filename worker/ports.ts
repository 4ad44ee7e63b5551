import type { ProgressUpdate } from '../agent/index.ts'
import type { LimitValues, ModelEndpoint, OperatorConfig } from '../config-schema/index.ts'
import type { SandboxReport } from '../domain/index.ts'
import type { GitHubApp } from '../github/index.ts'
import type { Claim, Ledger } from '../ledger/index.ts'
import type { SandboxUser } from '../sandbox/index.ts'
import type { Logger } from '../telemetry/index.ts'

/** Everything the second half reaches, plugged in by its front: `serve`, `run`, the Action. */
export type WorkerPorts = {
  ledger: Ledger
  dataDir: string
  /** Who this worker is in the ledger: unique per process start. */
  owner: string
  /** Null: results are delivered as files (`grokbot run`). */
  github: GitHubApp | null
  model: ModelEndpoint
  settings(): Promise<WorkerSettings>
  /** The Unix user sandboxes of this slot run as. */
  user: SandboxUser
  /** Whether people of more than one owner are served: some profiles are not for that. */
  tenants: 'one' | 'several'
  /** One user for each task that is worked on at the same time, so that sessions can not read each other's files. */
  userOfSlot(slot: number): SandboxUser
  /** A slot no other living process has; given back when its task has left. */
  takeSlot(): { slot: number; release(): void }
  /** Armed in the session's thread as well; only tests set it. */
  crashpoint: string | null
  /** Where a session runs: a worker thread of its own (`serve`) or this thread (one-session processes). */
  sessionPlace: 'thread' | 'here'
  markerKey: Uint8Array
  /** The address of a task's page, from when it was accepted; null = this installation has no pages. */
  link: ((taskId: string, acceptedAt: number) => string) | null
  signer: Signer | null
  /** Told of each attempt that begins here. */
  claimed?(claim: Claim): void
  /** Never awaited; a front shows it. */
  progress(taskId: string, update: TaskProgress): void
  now(): number
  logger: Logger
}

/** The operator's settings as they are now: read again for each task. */
export type WorkerSettings = { limits: LimitValues; operator: OperatorConfig; prefix: string }

export type Signer = { keyId: string; publicKeyPem: string; sign(bytes: Uint8Array): Promise<Uint8Array> }

export type TaskProgress =
  | { kind: 'session'; update: ProgressUpdate }
  | { kind: 'stage'; stage: 'mirror' | 'workspace' | 'setup' | 'session' | 'change' | 'checks' | 'delivery'; detail: string }
  /** The work tree is there, and what its sandbox was measured to have. */
  | { kind: 'opened'; sandbox: SandboxReport; network: 'none' | 'proxy' | 'host' }
  | { kind: 'check'; name: string; cell: string; state: 'running' | 'passed' | 'failed' | 'cached'; detail: string; durationMs: number }
  | { kind: 'ended'; outcome: string; reason: string }
