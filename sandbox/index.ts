export { sandboxLimitDefaults } from './limits.ts'
export { openSandbox } from './open-sandbox.ts'
export { passable } from './passable.ts'
export { describeProfile, type Profile, profiles } from './profiles.ts'
export type {
  Command,
  CommandResult,
  FileFault,
  FileHost,
  FileRead,
  KilledBy,
  Mount,
  Network,
  Sandbox,
  SandboxLimits,
  SandboxOptions,
  SandboxUser,
} from './sandbox.ts'
export { type CanaryName, type ProfileTest, type SelfTest, type SelfTestOptions, selfTest } from './self-test.ts'
export { removeUnfinishedShared } from './shared-files.ts'
export { type Orphan, sweepOrphans } from './sweep-orphans.ts'
