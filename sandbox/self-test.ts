import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { openSandbox } from './open-sandbox.ts'
import { describeProfile, type Profile } from './profiles.ts'
import { own } from './run-folder.ts'
import type { Mount, Sandbox, SandboxLimits, SandboxOptions, SandboxUser } from './sandbox.ts'

export type SelfTestOptions = {
  /** Names of the profiles that are enabled. */
  profiles: readonly string[]
  user: SandboxUser
  /** Host folder in which the test makes and removes folders of its own; the user must be able to pass through it. */
  scratch: string
  limits: SandboxLimits
  mounts: readonly Mount[]
  masked: readonly string[]
  readHost?: boolean
}

export type CanaryName =
  | 'writes the workspace as the profile says'
  | 'cannot write outside'
  | 'cannot read what is masked'
  | 'cannot see the processes of the host'
  | 'cannot reach the loopback of the host'
  | 'has no privileges and a system call filter'

export type ProfileTest = {
  profile: string
  state: 'enforced' | 'partial' | 'none'
  /** Null when it could not be tried because nothing ran. */
  canaries: Record<CanaryName, boolean | null>
  missing: readonly string[]
  /** Why nothing ran, with the way out. */
  reason: string | null
}

export type SelfTest = { kind: 'passed' | 'failed'; profiles: ProfileTest[] }

/**
 * Runs each profile's real arguments once, with canaries that must hold. To be done at boot and again after a failure; a
 * sysctl or a version is never taken for a proof, they only explain a failure.
 */
export async function selfTest(options: SelfTestOptions): Promise<SelfTest> {
  const profiles: ProfileTest[] = []
  for (const name of options.profiles) profiles.push(await testProfile(options, name))
  const held = profiles.every(({ canaries, state }) => state === 'enforced' && Object.values(canaries).every(canary => canary === true))
  return { kind: held ? 'passed' : 'failed', profiles }
}

async function testProfile(options: SelfTestOptions, name: string): Promise<ProfileTest> {
  const profile = describeProfile(name)
  if (!profile?.confined) {
    return {
      profile: name,
      state: 'none',
      canaries: untried(),
      missing: [],
      reason: profile ? 'the profile off confines nothing' : 'there is no such profile',
    }
  }
  const place = makePlace(options)
  const listener = await listen()
  const witness = spawn('/bin/sleep', ['300', place.token], { stdio: 'ignore', env: {} })
  try {
    const sandbox = await openSandbox(sandboxOptions(options, profile, place))
    try {
      return await tryCanaries(sandbox, profile, place, listener)
    } finally {
      await sandbox.close()
    }
  } finally {
    witness.kill('SIGKILL')
    listener.server.close()
    rmSync(place.root, { recursive: true, force: true })
  }
}

type Place = { root: string; workspace: string; run: string; canary: string; token: string }

function makePlace(options: SelfTestOptions): Place {
  const root = mkdtempSync(join(options.scratch, 'self-test-'))
  chmodSync(root, 0o711)
  const place = {
    root,
    workspace: join(root, 'workspace'),
    run: join(root, 'run'),
    canary: join(root, 'canary'),
    token: randomBytes(12).toString('hex'),
  }
  for (const path of [place.workspace, place.run]) {
    mkdirSync(path, { mode: 0o700 })
    own(path, options.user)
  }
  mkdirSync(place.canary, { mode: 0o755 })
  writeFileSync(join(place.canary, 'open'), place.token, { mode: 0o644 })
  // Readable by its mode, so that only the mask can keep it back.
  writeFileSync(join(place.canary, 'secret'), place.token, { mode: 0o644 })
  return place
}

function sandboxOptions(options: SelfTestOptions, profile: Profile, place: Place): SandboxOptions {
  return {
    profile: profile.name,
    policy: 'required',
    workspace: { source: place.workspace, mode: 'rw' },
    mounts: [...options.mounts, { source: place.canary, target: canaryTarget, mode: 'ro' }],
    runDir: place.run,
    user: options.user,
    network: { kind: 'none' },
    limits: options.limits,
    masked: [...options.masked, join(place.canary, 'secret')],
    ...(options.readHost === undefined ? {} : { readHost: options.readHost }),
    poolSize: 0,
    files: false,
  }
}

const canaryTarget = '/canary'

/** Every line it prints is a thing that should not have worked, apart from `workspace` and `open`. */
function canaryScript(place: Place, port: number): string {
  return [
    `echo ${place.token} > /workspace/written && echo workspace`,
    `[ "$(cat ${canaryTarget}/open)" = ${place.token} ] && echo open`,
    `cat ${canaryTarget}/secret && echo secret`,
    `for f in /usr /etc /var / ${canaryTarget} /run; do (echo x > $f/${place.token}) && echo outside $f; done`,
    `grep -l ${place.token} /proc/[0-9]*/cmdline && echo processes`,
    `(exec 3<>/dev/tcp/127.0.0.1/${port}) && echo loopback`,
    `sed -n 's/^\\(NoNewPrivs\\|Seccomp\\|CapEff\\):\\s*/\\1 /p' /proc/self/status`,
  ].join('\n')
}

async function tryCanaries(sandbox: Sandbox, profile: Profile, place: Place, listener: Listener): Promise<ProfileTest> {
  // The script's own text holds the token, so it comes by standard input, not as an argument.
  const result = await sandbox.run({
    argv: ['bash', '-s'],
    stdin: Buffer.from(`exec 2>/dev/null\n${canaryScript(place, listener.port)}\n`),
  })
  const { report } = sandbox
  if (result.kind !== 'ended' || result.killedBy !== null) {
    const reason = result.kind === 'ended' ? `the canary was killed by ${result.killedBy}` : result.reason
    return { profile: profile.name, state: report.state, canaries: untried(), missing: report.missing, reason }
  }
  const lines = new Set(Buffer.from(result.output).toString('utf8').split('\n'))
  const written =
    existsSync(join(place.workspace, 'written')) && readFileSync(join(place.workspace, 'written'), 'utf8').trim() === place.token
  const canaries: Record<CanaryName, boolean> = {
    'writes the workspace as the profile says':
      written === profile.workspaceWritable && lines.has('workspace') === profile.workspaceWritable,
    'cannot write outside': ![...lines].some(line => line.startsWith('outside')),
    'cannot read what is masked': lines.has('open') && !lines.has('secret'),
    'cannot see the processes of the host': !lines.has('processes'),
    'cannot reach the loopback of the host': !lines.has('loopback') && listener.connections() === 0,
    'has no privileges and a system call filter':
      lines.has('NoNewPrivs 1') && lines.has('Seccomp 2') && lines.has('CapEff 0000000000000000'),
  }
  return { profile: profile.name, state: report.state, canaries, missing: report.missing, reason: null }
}

function untried(): Record<CanaryName, null> {
  return {
    'writes the workspace as the profile says': null,
    'cannot write outside': null,
    'cannot read what is masked': null,
    'cannot see the processes of the host': null,
    'cannot reach the loopback of the host': null,
    'has no privileges and a system call filter': null,
  }
}

type Listener = { server: Server; port: number; connections(): number }

async function listen(): Promise<Listener> {
  let connections = 0
  const server = createServer(socket => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { server, port: typeof address === 'object' && address ? address.port : 0, connections: () => connections }
}
