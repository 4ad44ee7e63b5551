import { limitTable } from '../config-schema/index.ts'
import type { SandboxLimits } from './sandbox.ts'

const kib = 1024
const mib = 1024 * kib
const gib = 1024 * mib

/** What a session gets when the operator says nothing. */
export const sandboxLimitDefaults: SandboxLimits = {
  wallMs: limitTable.commandWallMs.default,
  cpuSeconds: limitTable.commandCpuSecondsMax.default,
  memoryBytes: limitTable.commandMemoryBytesMax.default,
  processesMax: limitTable.commandProcessesMax.default,
  openFilesMax: 4096,
  fileBytesMax: limitTable.commandFileBytesMax.default,
  diskBytesMax: limitTable.commandDiskBytesMax.default,
  inodesMax: 1_000_000,
  tmpBytesMax: limitTable.sessionTmpBytesMax.default,
  outputBytesMax: 100 * kib,
  outputFileBytesMax: 64 * mib,
  egressSentBytesMax: limitTable.setupSentBytesMax.default,
  egressReceivedBytesMax: limitTable.setupReceivedBytesMax.default,
}

/** Bounds of the engine itself. They are not settable: changing one changes what the tests of this folder prove. */
export const engineLimits = {
  /** A holder that has not mounted everything by then never will. */
  holderStartMs: 10_000,
  /** From spawn to "parked": creation takes about 8 ms; the rest is a loaded machine. */
  parkMs: 15_000,
  /** How long evidence that is about to appear is waited for, in steps of a millisecond. */
  evidenceWaitMs: 500,
  /** How long a killed sandbox may take to be gone before its end is reported all the same. */
  killGraceMs: 5_000,
  /** How long the output of an ended command may stay open before it is cut off. */
  drainMs: 2_000,
  /** Between two looks at memory, CPU and disk. */
  watchIntervalMs: 250,
  /** The kernel's own CPU limit lies this much above ours, so that the watch can name the reason first. */
  cpuGraceSeconds: 2,
  /** The kernel refuses one argument of more (MAX_ARG_STRLEN, with its end byte): longer scripts go as a file. */
  argumentBytesMax: 128 * kib - 1,
  /** All arguments and variables of one command together; the kernel's own bound is 2 MiB minus the stack. */
  commandBytesMax: 1 * mib,
  scriptBytesMax: 8 * mib,
  stdinBytesMax: 64 * mib,
  /** Sandboxes that are being started or are parked, of one session. */
  poolSizeMax: 8,
  fifosMax: 64,
  /** Where HTTP_PROXY points inside; the network namespace is the session's own, so nothing else can hold it. */
  relayPort: 3128,
  runTmpfsBytes: 16 * mib,
  shmTmpfsBytes: 64 * mib,
  /** Processes looked at in one tick of the watch; a tree above it is killed as a fork bomb would be. */
  watchedProcessesMax: 4096,
  /** Free space and free inodes under which a command is stopped whoever used them up. */
  diskReserveBytes: 256 * mib,
  inodeReserve: 10_000,
  companionStartMs: 15_000,
  /** The file host and the relay live as long as the session: their CPU limit is this much above one command's. */
  companionCpuSeconds: 3600,
  companionMemoryBytes: 2 * gib,
  companionProcesses: 64,
  /** One answer of the file host. */
  fileHostCallMs: 60_000,
  fileHostRestartsMax: 3,
  fileHostHeaderBytesMax: 16 * mib,
  fileHostFrameBytesMax: 256 * mib,
  fileHostCallsMax: 256,
  stderrBytesMax: 16 * kib,
} as const
