export { emptyGateTables, type GateTables } from './gate/rows.ts'
export { sessionLimits } from './limits.ts'
export type { FailureKind as ModelFailure } from './model/failure-kinds.ts'
export { loadSampler } from './model/load-sampler.ts'
export type {
  AgentSandbox,
  CommandResult,
  FileFault,
  FileHost,
  HookVerdict,
  KillSwitch,
  PreToolHook,
  ProgressUpdate,
  SessionPorts,
  SnapshotResult,
} from './ports.ts'
export { runSession } from './run-session.ts'
export type { ModelSettings, SessionResult, SessionStart } from './session.ts'
export { handOver } from './stop.ts'
