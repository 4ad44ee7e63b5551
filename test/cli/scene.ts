import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import type { ModelScript } from '../../simulator/index.ts'
import { program } from '../program.ts'

export const main = program

/** What a started `grokbot` sees of this machine: nothing of the person's who runs the tests but where programs are. */
const environment = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NO_COLOR: '1' }

export type Ran = { exitCode: number; stdout: string; stderr: string; durationMs: number }

export function start(argv: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  return execa(process.execPath, [main, ...argv], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...environment, ...options.env },
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    stripFinalNewline: false,
    timeout: 120_000,
  })
}

/** The first event of a `--stream-json` that fits; the process goes on. */
export function nextEvent(
  running: ReturnType<typeof start>,
  fits: (event: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let rest = ''
    running.stdout.on('data', (chunk: Buffer) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      const found = lines.map(line => JSON.parse(line)).find(fits)
      if (found) resolve(found)
    })
    running.stdout.on('end', () => reject(new Error('the process ended before the event came')))
  })
}

/** One real process from its start to its end. */
export async function grokbot(argv: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<Ran> {
  const result = await start(argv, options)
  return {
    exitCode: result.exitCode ?? -1,
    stdout: String(result.stdout),
    stderr: String(result.stderr),
    durationMs: result.durationMs,
  }
}

/** The one object a `--json` prints last. */
export function lastObject(stdout: string): Record<string, unknown> {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

export type Scene = {
  folder: string
  repo: string
  data: string
  script: string
  git(...argv: string[]): Promise<string>
  write(name: string, content: string): string
  remove(): void
}

/** `value.txt` must say "fixed" for the check to pass. Small commands, so that a test is about the command line and not about npm. */
const repositoryFiles: Readonly<Record<string, string>> = {
  'value.txt': 'broken\n',
  'check.sh': 'grep -q fixed value.txt\n',
  '.github/grok.yml': 'version: 1\nchecks:\n  - sh check.sh\n',
}

export const fixingScript: ModelScript = [
  { toolCalls: [{ name: 'read_file', arguments: { target_file: 'value.txt' } }] },
  { toolCalls: [{ name: 'write', arguments: { file_path: 'value.txt', content: 'fixed\n' } }] },
  { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'sh check.sh && echo passes', description: 'check' } }] },
  { text: 'Say fixed\n\nThe value was wrong.' },
]

/** A repository with a failing check, an empty data folder and a script that mends it. */
export async function openScene(files: Readonly<Record<string, string>> = {}, script: ModelScript = fixingScript): Promise<Scene> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-cli-'))
  chmodSync(folder, 0o711)
  const repo = path.join(folder, 'repo')
  const write = (name: string, content: string) => {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
    return file
  }
  for (const [name, content] of Object.entries({ ...repositoryFiles, ...files })) write(path.join('repo', name), content)
  const git = async (...argv: string[]) => {
    const result = await execa('git', ['-c', 'user.name=m', '-c', 'user.email=m@example.com', ...argv], { cwd: repo })
    return result.stdout
  }
  await git('init', '-q', '-b', 'main')
  await git('add', '-A')
  await git('commit', '-q', '-m', 'first')
  return {
    folder,
    repo,
    data: path.join(folder, 'data'),
    script: write('script.json', JSON.stringify(script)),
    git,
    write,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export function runArguments(scene: Scene, ...more: string[]): string[] {
  return ['run', '/grok fix the value', '--repo', scene.repo, '--data', scene.data, '--model-script', scene.script, ...more]
}

/** Everything of a folder: kind, mode, content and time of each entry, `.git` included, `.grok/out` apart. */
export function fingerprint(folder: string, at = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(path.join(folder, at)).sort()) {
    const relative = path.join(at, name)
    if (relative === '.grok') continue
    const stat = lstatSync(path.join(folder, relative))
    const mode = stat.mode.toString(8)
    if (stat.isDirectory()) Object.assign(found, { [relative]: `folder ${mode}` }, fingerprint(folder, relative))
    else if (stat.isSymbolicLink()) found[relative] = `link ${readlinkSync(path.join(folder, relative))}`
    else
      found[relative] = `${mode} ${stat.mtimeMs} ${createHash('sha256')
        .update(readFileSync(path.join(folder, relative)))
        .digest('hex')}`
  }
  return found
}

/**
 * What a terminal could take for an order, or an eye for other text than is there (observer O8): everything but line ends
 * and printable text. Written by code points, apart from the product's own pattern, so that both would have to be wrong.
 */
export const terminalOrders = new RegExp(
  `[${[
    [0x00, 0x09],
    [0x0b, 0x1f],
    [0x7f, 0x9f],
    [0x200b, 0x200f],
    [0x2028, 0x202e],
    [0x2066, 0x2069],
    [0xfeff, 0xfeff],
    [0xe0000, 0xe007f],
  ]
    .map(([from = 0, to = 0]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`)
    .join('')}]`,
  'u',
)
