import type { SandboxReport } from '../domain/index.ts'

/**
 * The place where anything of a repository or a model runs. Paths inside are the same for every task and attempt, so that
 * transcripts stay true after a resume: `/workspace`, `/home/agent`, `/tmp`.
 */
export const insidePaths = { workspace: '/workspace', home: '/home/agent', tmp: '/tmp' } as const

export type Mount = {
  /** Absolute host path; it must exist and be no symlink. */
  source: string
  /** Absolute path inside. */
  target: string
  mode: 'ro' | 'rw'
}

/** The Unix user everything of one session runs as: a slot's uid when the worker is root, else the worker itself. */
export type SandboxUser = { uid: number; gid: number }

export type SandboxLimits = {
  wallMs: number
  cpuSeconds: number
  memoryBytes: number
  processesMax: number
  openFilesMax: number
  /** One file. */
  fileBytesMax: number
  /** What one command may write to disk altogether, overwriting included. */
  diskBytesMax: number
  /** By how much the inodes in use may grow while one command runs. */
  inodesMax: number
  /** /tmp, which lives in memory and is shared by all commands of the session. */
  tmpBytesMax: number
  /** What a command's result holds: head and tail halves of this. */
  outputBytesMax: number
  /** What is kept of a command's output on the host before the command is killed. */
  outputFileBytesMax: number
  /** Everything the session's proxy sends out, and takes in. */
  egressSentBytesMax: number
  egressReceivedBytesMax: number
}

export type Network = { kind: 'none' } | { kind: 'proxy'; allow: readonly { host: string; port: number }[] } | { kind: 'host' }

export type SandboxOptions = {
  /** A built-in profile's or `review`'s name. */
  profile: string
  policy: 'required' | 'prefer'
  /** Host folder bound at /workspace; `null` = an empty one. */
  workspace: { source: string; mode: 'ro' | 'rw' } | null
  /** More binds: the throwaway gitdir at /workspace/.git, the mirror's objects, toolchain roots, a setup cache. */
  mounts: readonly Mount[]
  /** Absolute inside paths that are searched for programs before the system's: a toolchain root's `bin`. */
  path?: readonly string[]
  /** Host folder of this session, owned by `user`, mode 0700: holds home, tmp, output files. The caller removes it. */
  runDir: string
  /**
   * Host folder of the worker's own in which what all sandboxes have in common is kept from one to the next; made when it is
   * missing. Without it every sandbox makes its own in `runDir`.
   */
  sharedDir?: string
  user: SandboxUser
  network: Network
  /** True: everything of the host that the user may read is visible read-only, masks apart. Operator only; default false. */
  readHost?: boolean
  /**
   * Endpoints the proxy may dial although their address is private; `address` fixes what the name means. They must be on the
   * allow-list too. Operator only; default none.
   */
  privateEgress?: readonly { host: string; port: number; address?: string }[]
  limits: SandboxLimits
  /** Host paths that stay invisible whatever the profile: data folder, key files, real homes, runner folders. */
  masked: readonly string[]
  /** How many command sandboxes are kept started ahead; 0 = none. */
  poolSize: number
  /** False: no file host is started (checks, trees, setup need none). */
  files: boolean
}

export type Sandbox = {
  /** What a command of this sandbox is measured to have; `none` only with the profile `off`. */
  report: SandboxReport
  /** Why nothing can run here, with the way out; null when everything can. */
  unavailable: { reason: string; missing: readonly string[] } | null
  /** Runs one command in a fresh sandbox. Never throws for what the command does; throws only for a bug of ours. */
  run(command: Command): Promise<CommandResult>
  /** Present when `files` was true. The kernel checks every path: it runs in a sandbox of its own. */
  files: FileHost | null
  /** What the egress proxy allowed and refused so far. */
  egress(): readonly { host: string; port: number; verdict: 'allowed' | 'refused'; reason: string }[]
  /** Ends every process of the session. Safe to repeat; resolves when nothing is left. */
  close(): Promise<void>
}

export type Command = {
  /** argv, never a shell string of ours: a model's script is `['bash', '-c', script]`. */
  argv: readonly string[]
  /** Absolute path inside; default /workspace. */
  cwd?: string
  env?: Readonly<Record<string, string>>
  stdin?: Uint8Array
  wallMs?: number
  signal?: AbortSignal
  /** Gets every chunk of output as it comes, stdout and stderr merged in arrival order. */
  onOutput?: (chunk: Uint8Array) => void
}

/** `sandbox`: the sandbox itself ended under the command: its holder died, or the host killed it for want of memory. */
export type KilledBy = 'wall' | 'cpu' | 'memory' | 'processes' | 'disk' | 'output' | 'cancel' | 'sandbox'

export type CommandResult =
  | {
      kind: 'ended'
      /** Null when it was killed. */
      exitCode: number | null
      killedBy: KilledBy | null
      /** Head and tail of the merged output, `outputBytesMax` at most, with a marker between them when cut. */
      output: Uint8Array
      outputBytes: number
      /** sha256 of the whole output, hex. */
      outputHash: string
      /** Host path of the whole output, up to `outputFileBytesMax`. */
      outputFile: string
      durationMs: number
      report: SandboxReport
    }
  /** Nothing was run because this command cannot be: a NUL byte, too long, a working directory that does not exist. */
  | { kind: 'refused'; reason: string }
  /** Nothing was run because there is no sandbox for it. `reason` names the cause and the way out. */
  | { kind: 'unavailable'; reason: string; missing: readonly string[] }

/** Paths are absolute inside paths, or relative to /workspace. Results are values; the host never follows a path itself. */
export type FileHost = {
  /** `maxBytes` bounds the answer; a bigger file is `too-large` with its size. */
  read(path: string, maxBytes: number): Promise<FileRead>
  /** Atomic: a temporary sibling, then rename. Keeps the mode of an existing file; makes missing parent folders. */
  write(path: string, content: Uint8Array): Promise<FileFault | { kind: 'written'; created: boolean }>
  list(
    path: string,
    entriesMax: number,
  ): Promise<
    FileFault | { kind: 'listed'; entries: { name: string; type: 'file' | 'dir' | 'link' | 'other'; bytes: number }[]; more: boolean }
  >
  /** Recursive, ignoring what .gitignore ignores: paths below `path`. */
  walk(path: string, entriesMax: number): Promise<FileFault | { kind: 'walked'; paths: string[]; more: boolean }>
  /**
   * A digest of what the kernel says of everything below a folder, its own `.git` left out: two equal ones mean that nothing
   * was changed in between, if the earlier one was `settled`.
   */
  stamp(path: string, entriesMax: number): Promise<FileFault | { kind: 'stamped'; stamp: string; settled: boolean }>
  /** ripgrep with these arguments (never containing a path to run); output is cut at `outputBytesMax`. */
  search(
    argv: readonly string[],
    outputBytesMax: number,
    wallMs: number,
  ): Promise<FileFault | { kind: 'searched'; exitCode: number; stdout: Uint8Array; stderr: string; cut: boolean; timedOut: boolean }>
}

export type FileRead = FileFault | { kind: 'read'; content: Uint8Array; mode: number }
export type FileFault = {
  kind: 'fault'
  code:
    | 'not-found'
    | 'is-directory'
    | 'not-a-directory'
    | 'denied'
    | 'read-only'
    | 'too-large'
    | 'not-a-file'
    | 'loop'
    | 'name-too-long'
    | 'no-space'
    | 'broken'
  message: string
}
