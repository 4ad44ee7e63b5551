import { execa } from 'execa'
import { entryPath } from '../entries.ts'
import { gitLimits } from './limits.ts'
import { redact } from './redact.ts'

/** Fixed: a folder of the caller's PATH must not decide which git the host runs. */
export const hostPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin'

export type GitCall = {
  argv: readonly string[]
  gitDir?: string
  cwd?: string
  env?: Readonly<Record<string, string>>
  input?: Uint8Array | string
  /** An open file git reads as its standard input, instead of `input`. */
  inputFd?: number
  /** A repository lock: git and all its children keep it open, so an orphan still holds the lock. */
  lockFd?: number
  user?: { uid: number; gid: number }
  /** The whole process tree is gone after it. */
  wallMs: number
  /** Asked to end first, so that it takes its lock files away; killed only when it does not. */
  endsTidily?: boolean
  stdoutBytesMax?: number
  signal?: AbortSignal | undefined
  /** Texts that must not stand in anything that is returned or thrown. */
  secrets?: readonly string[]
  /** A program in front of git, such as prlimit with its arguments. */
  launcher?: readonly string[]
}

export type GitResult = {
  /** Null when it was killed. */
  exitCode: number | null
  stdout: Buffer
  /** For people only, with secrets removed: nothing is decided by it. */
  stderr: string
  ended: 'exit' | 'timed-out' | 'cancelled' | 'too-much-output' | 'killed'
}

/** Runs git in the hardened environment. Throws only when it could not be started. */
export async function runGit(call: GitCall): Promise<GitResult> {
  const [file, ...argv] = [...(call.launcher ?? []), 'git', ...(call.gitDir ? [`--git-dir=${call.gitDir}`] : []), ...call.argv] as [
    string,
    ...string[],
  ]
  const stdin = call.inputFd === undefined ? (call.input === undefined ? 'ignore' : 'pipe') : inherited(call.inputFd)
  const result = await execa(file, argv, {
    env: { ...hostEnvironment, ...call.env },
    extendEnv: false,
    cwd: call.cwd ?? '/',
    encoding: 'buffer',
    stripFinalNewline: false,
    stdio: call.lockFd === undefined ? [stdin, 'pipe', 'pipe'] : [stdin, 'pipe', 'pipe', inherited(call.lockFd)],
    ...(call.input === undefined ? {} : { input: call.input }),
    ...(call.user ? { uid: call.user.uid, gid: call.user.gid } : {}),
    timeout: call.wallMs,
    maxBuffer: { stdout: call.stdoutBytesMax ?? gitLimits.outputBytesMax, stderr: gitLimits.stderrBytesMax },
    killSignal: call.endsTidily ? 'SIGTERM' : 'SIGKILL',
    killDescendants: true,
    reject: false,
    ...(call.signal ? { cancelSignal: call.signal } : {}),
  })
  if (result.failed && result.exitCode === undefined && result.signal === undefined && !result.timedOut && !result.isCanceled) {
    throw new Error(`git could not be started: ${redact(String(result.code ?? result.shortMessage), call.secrets)}`, {
      cause: result.cause,
    })
  }
  const ended = ending(result)
  return {
    // Cut output with a good exit code would be taken for all of it.
    exitCode: ended === 'exit' ? (result.exitCode ?? null) : null,
    stdout: asBuffer(result.stdout),
    stderr: redact(asBuffer(result.stderr).toString('utf8'), call.secrets),
    ended,
  }
}

/** Runs git where a failure is a bug or a broken disk: gives what it printed, or throws. */
export async function git(call: GitCall): Promise<Buffer> {
  const result = await runGit(call)
  if (result.exitCode !== 0) throw gitError(call, result)
  return result.stdout
}

export function gitError(call: GitCall, result: GitResult): Error {
  const how = result.ended === 'exit' ? `ended with ${result.exitCode}` : `was ended: ${result.ended}`
  return new Error(`git ${redact(call.argv.slice(0, 2).join(' '), call.secrets)} ${how}: ${result.stderr.trim().slice(-2000)}`)
}

/** execa passes any open descriptor on, but its types name the first ten only. */
export function inherited(fd: number): 3 {
  return fd as 3
}

function ending(result: {
  timedOut: boolean
  isCanceled: boolean
  isMaxBuffer: boolean
  exitCode?: number | undefined
}): GitResult['ended'] {
  if (result.timedOut) return 'timed-out'
  if (result.isCanceled) return 'cancelled'
  if (result.isMaxBuffer) return 'too-much-output'
  return result.exitCode === undefined ? 'killed' : 'exit'
}

function asBuffer(bytes: unknown): Buffer {
  return bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.alloc(0)
}

const hostEnvironment: Readonly<Record<string, string>> = {
  PATH: hostPath,
  HOME: '/nonexistent',
  XDG_CONFIG_HOME: '/nonexistent',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: entryPath('hostGitConfig'),
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  SSH_ASKPASS: 'false',
  GIT_SSH_COMMAND: 'false',
  GIT_ALLOW_PROTOCOL: 'https:http:file',
  GIT_PROTOCOL_FROM_USER: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LFS_SKIP_SMUDGE: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_EDITOR: 'false',
  GIT_PAGER: 'cat',
}
