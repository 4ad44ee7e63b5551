import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { engineLimits } from './limits.ts'
import { engineFolder } from './plan-tree.ts'
import { type Command, insidePaths } from './sandbox.ts'

/** The bytes handed to a waiting shell, and the files it reads on the way. */
export type CommandScript = { kind: 'script'; script: Buffer; removeFiles(): void }

/**
 * Writes a command as text for the waiting shell. Only this function quotes: every value goes between single quotes, in
 * which the shell sees nothing special but the closing quote itself. `inbox` is the host side of /run/grokbot/inbox.
 */
export function writeCommandScript(command: Command, inbox: string): CommandScript | { kind: 'refused'; reason: string } {
  const refusal = refusalOf(command)
  if (refusal) return { kind: 'refused', reason: refusal }
  const files: string[] = []
  const deposit = (content: Uint8Array): string => {
    const name = randomUUID()
    writeFileSync(join(inbox, name), content, { flag: 'wx', mode: 0o444 })
    files.push(join(inbox, name))
    return join(engineFolder, 'inbox', name)
  }
  const argv = withoutLongScript(command.argv, deposit)
  const lines = [
    `cd -- ${quote(command.cwd ?? insidePaths.workspace)} 2>/dev/null || { printf C >&9; exit 126; }`,
    'unset OLDPWD SHLVL',
    ...Object.entries(command.env ?? {}).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...(command.stdin ? [`exec <${quote(deposit(command.stdin))}`] : []),
    'exec 9>&-',
    `exec -- ${argv.map(quote).join(' ')}`,
  ]
  const removeFiles = () => {
    for (const path of files) rmSync(path, { force: true })
  }
  const script = Buffer.from(lines.join('\n'), 'utf8')
  return { kind: 'script', script, removeFiles }
}

function refusalOf(command: Command): string | null {
  const { argv, env = {}, cwd, stdin } = command
  const variables = Object.entries(env)
  if (argv.length === 0 || argv[0] === '') return 'the command is empty'
  if ([...argv, cwd ?? '', ...variables.flat()].some(text => text.includes('\0'))) return 'the command contains a NUL byte'
  if (cwd !== undefined && (!isAbsolute(cwd) || normalize(cwd) !== cwd)) return `the working directory ${cwd} is not a plain absolute path`
  const badName = variables.find(([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || shellOwned.has(name))?.[0]
  if (badName !== undefined) return `${JSON.stringify(badName)} cannot be set as an environment variable`
  const script = scriptIndex(argv)
  const long = argv.find((text, index) => index !== script && byteLength(text) > engineLimits.argumentBytesMax)
  if (long !== undefined) return `one argument is longer than ${engineLimits.argumentBytesMax} bytes`
  if (script !== null && byteLength(argv[script] as string) > engineLimits.scriptBytesMax) {
    return `the script is longer than ${engineLimits.scriptBytesMax} bytes`
  }
  const passed = [...argv.filter((_, index) => index !== script), ...variables.flat()].reduce((sum, text) => sum + byteLength(text), 0)
  if (passed > engineLimits.commandBytesMax) return `arguments and environment are longer than ${engineLimits.commandBytesMax} bytes`
  if (stdin && stdin.byteLength > engineLimits.stdinBytesMax) return `standard input is longer than ${engineLimits.stdinBytesMax} bytes`
  return null
}

/** Variables that a shell keeps to itself: setting them fails, silently. */
const shellOwned = new Set(['BASHOPTS', 'BASHPID', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID', 'LC_ALL', '_'])

/** Index of the script text in `bash -c TEXT …`, or null. */
function scriptIndex(argv: readonly string[]): number | null {
  return /^(?:\/(?:usr\/)?bin\/)?(?:ba|da)?sh$/.test(argv[0] ?? '') && argv[1] === '-c' && argv.length > 2 ? 2 : null
}

/** The kernel bounds one argument: a longer script is read from a file, with the same $0 and arguments. */
function withoutLongScript(argv: readonly string[], deposit: (content: Uint8Array) => string): readonly string[] {
  const index = scriptIndex(argv)
  if (index === null || byteLength(argv[index] as string) <= engineLimits.argumentBytesMax) return argv
  const path = deposit(Buffer.from(argv[index] as string, 'utf8'))
  return [...argv.slice(0, index), `. ${quote(path)}`, ...argv.slice(index + 1)]
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
