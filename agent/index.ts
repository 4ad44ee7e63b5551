export { emptyGateTables, type GateRow, type GateTables, type PermissionRule } from './gate/rows.ts'
export { type SessionLimits, sessionLimits } from './limits.ts'
export type {
  AgentSandbox,
  Command,
  CommandResult,
  FileFault,
  FileHost,
  HookCall,
  HookVerdict,
  KillSwitch,
  ModelEndpoint,
  PreToolHook,
  ProgressUpdate,
  RecordEvents,
  SessionPorts,
  SnapshotResult,
  ToolVerb,
} from './ports.ts'
export { runSession } from './run-session.ts'
export type { EndReason, ModelPrice, ModelSettings, SessionResult, SessionStart, Trust } from './session.ts'
export { handOver } from './stop.ts'
export type { FamilyName } from './tools/families.ts'
