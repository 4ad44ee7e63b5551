import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openSandbox, type Sandbox, type SandboxOptions, type SandboxUser, sandboxLimitDefaults } from '../../sandbox/index.ts'

/** `slots` when the tests run as root (a uid of its own for the sandbox), `single` otherwise. */
export const mode: 'slots' | 'single' = process.getuid?.() === 0 ? 'slots' : 'single'

export const user: SandboxUser =
  mode === 'slots' ? { uid: 61_001, gid: 61_001 } : { uid: process.getuid?.() as number, gid: process.getgid?.() as number }

export type Place = { root: string; workspace: string; runDir: string }

/** A folder with a workspace and a run folder of the sandbox user's. Removed when the test ends. */
export function makePlace(): Place {
  const place = makeSharedPlace()
  onTestFinished(() => rmSync(place.root, { recursive: true, force: true }))
  return place
}

/** The same for several tests; the caller removes it. */
export function makeSharedPlace(): Place {
  const root = mkdtempSync(join(tmpdir(), 'grokbot-sandbox-'))
  chmodSync(root, 0o755)
  const place = { root, workspace: join(root, 'workspace'), runDir: join(root, 'run') }
  for (const path of [place.workspace, place.runDir]) {
    mkdirSync(path, { mode: 0o700 })
    give(path)
  }
  return place
}

/** Makes a host path the sandbox user's own. */
export function give(path: string): void {
  if (mode === 'slots') chownSync(path, user.uid, user.gid)
}

export function sandboxOptions(place: Place, options: Partial<SandboxOptions> = {}): SandboxOptions {
  return {
    profile: 'workspace',
    policy: 'required',
    workspace: { source: place.workspace, mode: 'rw' },
    mounts: [],
    runDir: place.runDir,
    user,
    network: { kind: 'none' },
    limits: sandboxLimitDefaults,
    masked: [],
    poolSize: 0,
    files: false,
    ...options,
  }
}

export type Opened = Place & { sandbox: Sandbox; sh(script: string, wallMs?: number): Promise<Ran> }
export type Ran = { exitCode: number | null; killedBy: string | null; output: string }

/** Opens a sandbox that is closed, with its folders, when the test ends. */
export async function open(options: Partial<SandboxOptions> = {}, place: Place = makePlace()): Promise<Opened> {
  const sandbox = await openSandbox(sandboxOptions(place, options))
  onTestFinished(() => sandbox.close())
  if (sandbox.unavailable) throw new Error(sandbox.unavailable.reason)
  return { ...place, sandbox, sh: (script, wallMs) => sh(sandbox, script, wallMs) }
}

export async function sh(sandbox: Sandbox, script: string, wallMs?: number): Promise<Ran> {
  const result = await sandbox.run({ argv: ['bash', '-c', script], ...(wallMs === undefined ? {} : { wallMs }) })
  if (result.kind !== 'ended') throw new Error(result.reason)
  return { exitCode: result.exitCode, killedBy: result.killedBy, output: Buffer.from(result.output).toString('utf8') }
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}
