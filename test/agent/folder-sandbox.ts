import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import type { AgentSandbox, CommandResult, FileFault, FileHost } from '../../agent/index.ts'

/** A real folder and real processes behind the session's ports, where the kernel sandbox is not what is tested. */
export type FolderSandbox = AgentSandbox & {
  root: string
  commands: string[]
  trees: string
  text(path: string): Promise<string>
  put(path: string, content: string | Uint8Array): Promise<void>
  /** A copy of the folder under a made-up tree id, and the way back to it; null = as it was opened. */
  snapshot(): Promise<{ kind: 'taken'; tree: string; live: boolean }>
  restore(tree: string | null): Promise<void>
  remove(): Promise<void>
}

const report = { engine: 'folder', state: 'none' as const, profile: 'off', missing: ['everything'] }

/** `trees`: where snapshots lie, to give a second attempt those of the first. */
export async function openFolderSandbox(files: { [path: string]: string | Uint8Array } = {}, trees?: string): Promise<FolderSandbox> {
  const root = await mkdtemp(join(tmpdir(), 'grokbot-agent-'))
  const place = (path: string) => join(root, posix.relative('/workspace', posix.resolve('/workspace', path)))
  const put = async (path: string, content: string | Uint8Array) => {
    await mkdir(dirname(place(path)), { recursive: true })
    await writeFile(place(path), content)
  }
  for (const [path, content] of Object.entries(files)) await put(path, content)
  const commands: string[] = []
  const store = trees ?? (await mkdtemp(join(tmpdir(), 'grokbot-trees-')))
  const first = '0'.repeat(40)
  await cp(root, join(store, first), { recursive: true })
  return {
    root,
    report,
    commands,
    trees: store,
    put,
    text: path => readFile(place(path), 'utf8'),
    async snapshot() {
      const tree = randomBytes(20).toString('hex')
      await cp(root, join(store, tree), { recursive: true })
      return { kind: 'taken', tree, live: false }
    },
    async restore(tree) {
      await rm(root, { recursive: true, force: true })
      await cp(join(store, tree ?? first), root, { recursive: true })
    },
    async remove() {
      await rm(root, { recursive: true, force: true })
      await rm(store, { recursive: true, force: true })
    },
    egress: () => [],
    files: fileHost(root, place),
    run: command => {
      commands.push(command.argv.at(-1) as string)
      return runProcess(root, command)
    },
  }
}

function runProcess(root: string, command: { argv: readonly string[]; wallMs?: number; signal?: AbortSignal }): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const startedAt = Date.now()
    const [file, ...args] = command.argv as [string, ...string[]]
    const child = spawn(file, args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    let killedBy: 'wall' | 'cancel' | null = null
    const kill = (by: 'wall' | 'cancel') => {
      killedBy ??= by
      try {
        process.kill(-(child.pid as number), 'SIGKILL')
      } catch {}
    }
    const timer = setTimeout(kill, command.wallMs ?? 60_000, 'wall')
    const onAbort = () => kill('cancel')
    if (command.signal?.aborted) onAbort()
    command.signal?.addEventListener('abort', onAbort, { once: true })
    child.stdout.on('data', chunk => chunks.push(chunk))
    child.stderr.on('data', chunk => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      command.signal?.removeEventListener('abort', onAbort)
      const output = Buffer.concat(chunks)
      resolve({
        kind: 'ended',
        exitCode: killedBy ? null : code,
        killedBy,
        output,
        outputBytes: output.byteLength,
        outputHash: createHash('sha256').update(output).digest('hex'),
        durationMs: Date.now() - startedAt,
        report,
      })
    })
  })
}

const codes: { [code: string]: FileFault['code'] } = {
  ENOENT: 'not-found',
  EISDIR: 'is-directory',
  ENOTDIR: 'not-a-directory',
  EACCES: 'denied',
  ENAMETOOLONG: 'name-too-long',
}

function fault(error: unknown): FileFault {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return { kind: 'fault', code: codes[code] ?? 'broken', message: String(error) }
}

function fileHost(root: string, place: (path: string) => string): FileHost {
  return {
    async read(path, maxBytes) {
      try {
        const { size, mode } = await stat(place(path))
        if (size > maxBytes) return { kind: 'fault', code: 'too-large', message: `${size} bytes` }
        return { kind: 'read', content: await readFile(place(path)), mode }
      } catch (error) {
        return fault(error)
      }
    },
    async write(path, content) {
      try {
        const created = await stat(place(path)).then(
          () => false,
          () => true,
        )
        await mkdir(dirname(place(path)), { recursive: true })
        await writeFile(`${place(path)}.new`, content)
        await rename(`${place(path)}.new`, place(path))
        return { kind: 'written', created }
      } catch (error) {
        return fault(error)
      }
    },
    async list(path, entriesMax) {
      try {
        const entries = await readdir(place(path), { withFileTypes: true })
        const type = (entry: (typeof entries)[number]) =>
          entry.isFile() ? 'file' : entry.isDirectory() ? 'dir' : entry.isSymbolicLink() ? 'link' : 'other'
        return {
          kind: 'listed',
          entries: entries.slice(0, entriesMax).map(entry => ({ name: entry.name, type: type(entry), bytes: 0 })),
          more: entries.length > entriesMax,
        }
      } catch (error) {
        return fault(error)
      }
    },
    async walk(path, entriesMax) {
      const listed = await ripgrep(
        root,
        ['--files', '--no-require-git', '--', posix.relative('/workspace', posix.resolve('/workspace', path)) || '.'],
        60_000,
      )
      const paths = listed.stdout
        .toString()
        .split('\n')
        .filter(Boolean)
        .map(found => posix.relative(posix.resolve('/workspace', path), posix.resolve('/workspace', found)))
      return { kind: 'walked', paths: paths.slice(0, entriesMax), more: paths.length > entriesMax }
    },
    async search(argv, outputBytesMax, wallMs) {
      const found = await ripgrep(root, argv, wallMs)
      return {
        kind: 'searched',
        exitCode: found.exitCode,
        stdout: found.stdout.subarray(0, outputBytesMax),
        stderr: found.stderr,
        cut: found.stdout.byteLength > outputBytesMax,
        timedOut: found.timedOut,
      }
    },
  }
}

/** A system package, as the sandbox's own file host finds it. */
const ripgrepProgram = 'rg'

function ripgrep(
  root: string,
  argv: readonly string[],
  wallMs: number,
): Promise<{ exitCode: number; stdout: Buffer; stderr: string; timedOut: boolean }> {
  return new Promise(resolve => {
    const child = spawn(ripgrepProgram, argv, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const stdout: Buffer[] = []
    let stderr = ''
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, wallMs)
    child.stdout.on('data', chunk => stdout.push(chunk))
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.on('close', code => {
      clearTimeout(timer)
      resolve({ exitCode: code ?? -1, stdout: Buffer.concat(stdout), stderr, timedOut })
    })
  })
}
