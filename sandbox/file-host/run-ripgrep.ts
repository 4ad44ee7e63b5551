import { spawn } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { fault, faultOf } from './fault.ts'

type Answer = { header: Record<string, unknown>; body?: Uint8Array }

type Ripgrep = { program: string; folder: string }

/** Lists or searches with ripgrep, which is started without a shell, without an environment and without its config file. */
export async function runRipgrep(ripgrep: Ripgrep, request: Record<string, unknown>, path: string): Promise<Answer> {
  if (ripgrep.program === '') return { header: fault('broken', 'ripgrep is not installed') }
  if (request.call === 'walk') return walk(ripgrep, path, Number(request.entriesMax))
  const argv = request.argv as string[]
  const refused = argv.find(runsPrograms)
  if (refused !== undefined) return { header: fault('denied', `the option ${refused} would let ripgrep run another program`) }
  const found = await run(ripgrep, ['--no-config', ...argv], Number(request.outputBytesMax), Number(request.wallMs))
  const { exitCode, stdout, stderr, cut, timedOut } = found
  return { header: { kind: 'searched', exitCode, stderr, cut, timedOut }, body: stdout }
}

/**
 * `--pre`, `--hostname-bin`, and decompression, which starts the tool of each format. Short options may come in clusters.
 * Every argument is looked at, also behind `--`: in `-e -- --pre=x` the two dashes are a pattern, and what follows is not.
 */
function runsPrograms(option: string): boolean {
  return /^--(pre|hostname-bin|search-zip)/.test(option) || /^-[^-]*z/.test(option)
}

const walkBytesMax = 64 * 1024 * 1024
const walkMs = 30_000

async function walk(ripgrep: Ripgrep, path: string, entriesMax: number): Promise<Answer> {
  try {
    if (!lstatSync(path).isDirectory() && !lstatSync(`${path}/`).isDirectory()) return { header: fault('not-a-directory', path) }
  } catch (error) {
    return { header: faultOf(error) }
  }
  const argv = ['--no-config', '--files', '--hidden', '--no-require-git', '--null', '--sort', 'path', '--glob', '!/.git', '--', path]
  const found = await run(ripgrep, argv, walkBytesMax, walkMs)
  if (found.exitCode > 1 && found.stdout.byteLength === 0) return { header: fault('broken', found.stderr) }
  const prefix = path.endsWith('/') ? path : `${path}/`
  const all = found.stdout
    .toString('utf8')
    .split('\0')
    .filter(name => name !== '')
  const paths = all.slice(0, entriesMax).map(name => (name.startsWith(prefix) ? name.slice(prefix.length) : name))
  return { header: { kind: 'walked', paths, more: all.length > entriesMax || found.cut || found.timedOut } }
}

type Found = { exitCode: number; stdout: Buffer; stderr: string; cut: boolean; timedOut: boolean }

const stderrBytesMax = 4096

function run(ripgrep: Ripgrep, argv: readonly string[], outputBytesMax: number, wallMs: number): Promise<Found> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let [bytes, stderr, cut, timedOut] = [0, '', false, false]
    const child = spawn(ripgrep.program, argv, { cwd: ripgrep.folder, env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, wallMs)
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, Math.max(0, outputBytesMax - bytes)))
      bytes += chunk.byteLength
      if (bytes <= outputBytesMax) return
      cut = true
      child.kill('SIGKILL')
    })
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(0, stderrBytesMax)
    })
    const settle = (exitCode: number) => {
      clearTimeout(timer)
      resolve({ exitCode, stdout: Buffer.concat(chunks), stderr, cut, timedOut })
    }
    child.on('error', error => {
      stderr = String(error)
      settle(2)
    })
    // A search that was cut has found something; one that ran out of time has not ended.
    child.on('close', code => settle(code ?? (cut ? 0 : 2)))
  })
}
