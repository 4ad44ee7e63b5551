import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { engineLimits } from './limits.ts'
import type { SandboxUser } from './sandbox.ts'

/** File descriptors of a launched sandbox, by the name of their purpose. */
export const fds = { seccomp: 3, status: 5, control: 9 } as const

export type ResourceLimits = {
  cpuSeconds: number
  fileBytes: number
  openFiles: number
  memoryBytes: number
  processes: number
}

export type Launched = {
  child: ChildProcess
  /** Resolves with the host pid of the sandbox's first process, or null when bwrap ended before it had one. */
  childPid: Promise<number | null>
  /** Resolves with the command's exit code as bwrap reports it, or null: then the command never ran, or was killed. */
  exitCode: Promise<number | null>
  /** Resolves when bwrap itself is gone and all of its pipes are closed. */
  closed: Promise<void>
  /** What bwrap and the launcher said on standard error, when it is a pipe of ours. */
  stderr(): string
  startedAt: number
}

export type LaunchOptions = {
  /** Absolute program and its arguments, run after the limits are set. */
  argv: readonly string[]
  user: SandboxUser
  limits: ResourceLimits
  /** Standard input, output and error: a number is a descriptor of ours. */
  stdio: readonly [input: 'ignore' | 'pipe', output: 'pipe' | number, error: 'pipe' | number]
  shell: string
  /** Path of the seccomp program; null only for the holder, which runs nothing of anybody else. */
  seccomp: string | null
  /** Fd 9 as a two-way pipe. */
  control: boolean
  stderrBytesMax: number
}

/**
 * Starts a chain `dash (limits) → nsenter → bwrap` as the sandbox user. It returns at once; the caller follows the status
 * stream. Nobody may ever SIGKILL the returned child: a bwrap that dies before its own child armed its death signal leaves
 * that child waiting for ever. Kill `childPid`; bwrap then ends by itself.
 */
export function launch(options: LaunchOptions): Launched {
  const { limits, user } = options
  const [input, output, error] = options.stdio
  // A fresh descriptor for every spawn: bwrap reads the program to its end, and a second read would find nothing.
  const seccompFd = options.seccomp === null ? null : openSync(options.seccomp, 'r')
  const stdio: StdioOptions = [input, output, error, seccompFd ?? 'ignore', 'ignore', 'pipe', 'ignore', 'ignore', 'ignore']
  stdio.push(options.control ? 'pipe' : 'ignore')
  blankLeakedDescriptors(stdio)
  try {
    const asRoot = process.getuid?.() === 0
    const child = spawn(...limitedArgv(options.shell, options.argv, limits), {
      stdio,
      env: launchMark(),
      cwd: '/',
      ...(asRoot ? { uid: user.uid, gid: user.gid } : {}),
    })
    return follow(child, options.stderrBytesMax)
  } finally {
    if (seccompFd !== null) closeSync(seccompFd)
  }
}

export const markName = 'GROKBOT_SANDBOX'

/**
 * The environment of every launcher, by which `sweepOrphans` knows what is ours and whose it is. bwrap clears it for what it
 * starts.
 */
export function launchMark(): Record<string, string> {
  mark ??= markOf('self')
  if (mark === null) throw new Error('this process has no entry in /proc')
  return { [markName]: mark }
}

let mark: string | null = null

/** `PID.START` of a process that lives, as /proc numbers it, which need not be how the process numbers itself. */
export function markOf(pid: number | 'self'): string | null {
  try {
    // The name in parentheses may hold spaces and parentheses; the state comes behind it, the start is the 20th field.
    const [number, rest] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(/ \(.*\) /s)
    const fields = (rest ?? '').split(' ')
    return /^[ZX]/.test(rest ?? '') ? null : `${number}.${fields[19]}`
  } catch {
    return null
  }
}

/** The program and arguments that run `argv` under the limits, without a process in between. */
export function limitedArgv(shell: string, argv: readonly string[], limits: ResourceLimits): [string, string[]] {
  return [shell, ['-c', limitScript, 'limits', ...limitArguments(limits), ...argv]]
}

/** dash knows these limits by letter; -f counts blocks of 512 bytes, -d kibibytes. */
const limitScript =
  'ulimit -t "$1" && ulimit -f "$2" && ulimit -n "$3" && ulimit -d "$4" && ulimit -p "$5" && ulimit -c 0 && shift 5 && exec "$@"'

function limitArguments(limits: ResourceLimits): string[] {
  hardLimits ??= readHardLimits()
  const within = (wanted: number, name: string) => Math.min(wanted, hardLimits?.get(name) ?? Number.POSITIVE_INFINITY)
  return [
    within(limits.cpuSeconds, 'Max cpu time'),
    Math.floor(within(limits.fileBytes, 'Max file size') / 512),
    within(limits.openFiles, 'Max open files'),
    Math.floor(within(limits.memoryBytes, 'Max data size') / 1024),
    within(limits.processes, 'Max processes'),
  ].map(String)
}

/** What this process may not exceed; asking for more would fail the launch when it is not root. */
let hardLimits: Map<string, number> | null = null

function readHardLimits(): Map<string, number> {
  const limits = new Map<string, number>()
  for (const line of readFileSync('/proc/self/limits', 'latin1').split('\n')) {
    const [, name, hard] = /^(Max [a-z ]+?)\s{2,}\S+\s+(\d+)/.exec(line) ?? []
    if (name && hard) limits.set(name, Number(hard))
  }
  return limits
}

function follow(child: ChildProcess, stderrBytesMax: number): Launched {
  const childPid = Promise.withResolvers<number | null>()
  const exitCode = Promise.withResolvers<number | null>()
  const closed = Promise.withResolvers<void>()
  let status = ''
  let stderr = Buffer.alloc(0)
  const statusPipe = pipeAt(child, fds.status)
  statusPipe?.setEncoding('utf8')
  statusPipe?.on('data', (text: string) => {
    status += text
    for (let end = status.indexOf('\n'); end >= 0; end = status.indexOf('\n')) {
      const line = parseStatus(status.slice(0, end))
      status = status.slice(end + 1)
      if (line['child-pid'] !== undefined) childPid.resolve(line['child-pid'])
      if (line['exit-code'] !== undefined) exitCode.resolve(line['exit-code'])
    }
  })
  // The peer's death is seen by `close`; an error on a pipe of a dying process says nothing more.
  for (const pipe of child.stdio) pipe?.on('error', () => {})
  child.stderr?.on('data', (chunk: Buffer) => {
    if (stderr.byteLength < stderrBytesMax) stderr = Buffer.concat([stderr, chunk]).subarray(0, stderrBytesMax)
  })
  const end = () => {
    childPid.resolve(null)
    exitCode.resolve(null)
    closed.resolve()
  }
  child.on('close', end)
  child.on('error', end)
  return {
    child,
    childPid: childPid.promise,
    exitCode: exitCode.promise,
    closed: closed.promise,
    stderr: () => stderr.toString('utf8'),
    startedAt: performance.now(),
  }
}

/**
 * Ends a launch at whatever point it is and waits until nothing of it is left; true when bwrap had got as far as a child.
 * Only a bwrap that has not even said its child's pid by then is killed itself: it hangs, and there is no other way.
 */
export async function endLaunch(launched: Launched): Promise<boolean> {
  const patience = setTimeout(() => launched.child.kill('SIGKILL'), engineLimits.killGraceMs)
  const pid = await launched.childPid
  clearTimeout(patience)
  if (pid !== null) killPid(pid)
  await launched.closed
  return pid !== null
}

export function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone, which is what was wanted.
  }
}

/** The pipe at a descriptor of the child; Node's type knows the first five only. */
export function pipeAt(child: ChildProcess, fd: number): Socket | undefined {
  return (child.stdio as unknown as (Socket | undefined)[])[fd]
}

function parseStatus(line: string): Record<string, number> {
  try {
    return JSON.parse(line) as Record<string, number>
  } catch {
    return {}
  }
}

/** Descriptors this process inherited without close-on-exec would pass through every spawn and into the sandbox. */
let leaked: number[] | null = null

/** Lays /dev/null over inherited descriptors; dash could only close those up to 9. */
function blankLeakedDescriptors(stdio: Exclude<StdioOptions, string>): void {
  for (const fd of leakedDescriptors()) {
    while (stdio.length <= fd) stdio.push('ignore')
    if (stdio[fd] === 'ignore' && fd > 2) stdio[fd] = nullDescriptor()
  }
}

export function leakedDescriptors(): readonly number[] {
  leaked ??= readdirSync('/proc/self/fd')
    .map(Number)
    .filter(fd => fd > 2 && isPassedOn(fd))
  return leaked
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The descriptor of the listing itself is closed by now.
    return false
  }
}

const closeOnExec = 0o2000000

let nullFd: number | null = null

function nullDescriptor(): number {
  nullFd ??= openSync('/dev/null', 'r+')
  return nullFd
}
