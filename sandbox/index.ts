export { sandboxLimitDefaults } from './limits.ts'
export { openSandbox } from './open-sandbox.ts'
export { describeProfile, type Profile, profiles } from './profiles.ts'
export {
  type Command,
  type CommandResult,
  type FileFault,
  type FileHost,
  type FileRead,
  insidePaths,
  type KilledBy,
  type Mount,
  type Network,
  type Sandbox,
  type SandboxLimits,
  type SandboxOptions,
  type SandboxUser,
} from './sandbox.ts'
export { type CanaryName, type ProfileTest, type SelfTest, type SelfTestOptions, selfTest } from './self-test.ts'
export { type Orphan, sweepOrphans } from './sweep-orphans.ts'
