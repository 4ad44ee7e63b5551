import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SandboxReport } from '../domain/index.ts'
import { agentId, type EngineMounts, holderArguments } from './bwrap-arguments.ts'
import { findEngine } from './engine.ts'
import { createFifoStore } from './fifo-store.ts'
import { createFileHost, type FileHostClient } from './file-host.ts'
import { startHolder } from './holder.ts'
import { type Expected, judgeEvidence } from './judge-evidence.ts'
import { type ParkContext, parkSandbox } from './parked-sandbox.ts'
import { planTree } from './plan-tree.ts'
import { createPool, type NotParked, type Parked } from './pool.ts'
import { prepareEtc } from './prepare-etc.ts'
import { describeProfile, type Profile } from './profiles.ts'
import { runCommand } from './run-command.ts'
import { prepareRunFolder, type RunFolder } from './run-folder.ts'
import { insidePaths, type Sandbox, type SandboxOptions } from './sandbox.ts'
import { startFileHost } from './start-file-host.ts'
import { writeSeccompProgram } from './write-seccomp.ts'

/** The files of ours that run inside a sandbox; a bundle names its own. */
export const sandboxEntries = {
  fileHost: fileURLToPath(new URL('./file-host/main.ts', import.meta.url)),
  relay: fileURLToPath(new URL('./egress/relay.ts', import.meta.url)),
}

/**
 * Opens the sandbox of one session: checks what was asked for, plans what is visible, starts the holder, parks the first
 * command sandbox, measures it, and starts the file host. It does not throw for what the machine lacks: then `unavailable`
 * says why, and nothing is ever run without a sandbox instead.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const profile = describeProfile(options.profile)
  const refusal = refusalOf(options, profile)
  if (refusal !== null || profile === null) return unavailableSandbox(options, refusal ?? '', [])
  const found = findEngine()
  if (found.kind === 'missing') return unavailableSandbox(options, found.reason, [])
  const folder = prepareRunFolder(options.runDir, options.user)
  const plan = planTree(options, profile, folder, prepareEtc(folder.etc, agentId))
  if (plan.kind === 'impossible') return unavailableSandbox(options, plan.reason, [])

  const net = options.network.kind !== 'host'
  writeSeccompProgram(folder.seccomp)
  const started = await startHolder(
    found.engine,
    options.user,
    holderArguments(found.engine, plan.steps, folder, engineMounts(folder), net),
  )
  if (started.kind === 'failed') return unavailableSandbox(options, `the sandbox could not be started: ${started.stderr.trim()}`, [])
  const { holder } = started
  const context: ParkContext = {
    engine: found.engine,
    holder,
    fifos: createFifoStore(found.engine, folder.fifo, options.user),
    user: options.user,
    limits: options.limits,
    seccomp: folder.seccomp,
    environment: agentEnvironment,
    net,
  }
  const expected: Expected = {
    steps: plan.steps,
    net: net ? 'private' : 'host',
    user: options.user,
    limits: options.limits,
    profile: profile.name,
  }
  return session(options, profile, folder, context, expected)
}

async function session(
  options: SandboxOptions,
  profile: Profile,
  folder: RunFolder,
  context: ParkContext,
  expected: Expected,
): Promise<Sandbox> {
  const { holder } = context
  const pool = createPool(options.poolSize, () => parkAndJudge(context, expected, options.policy))
  // The first one is started whatever the pool's size: what it is measured to be is what this session reports.
  const first = await parkAndJudge(context, expected, options.policy)
  if (first.kind !== 'parked') {
    await holder.close()
    return unavailableSandbox(options, first.reason, first.missing)
  }
  let spare: Parked | null = first
  const files = options.files ? openFileHost(options, context) : null
  const runContext = {
    limits: options.limits,
    inbox: folder.inbox,
    outputFolder: folder.output,
    disk: profile.workspaceWritable ? (options.workspace?.source ?? folder.workspace) : folder.home,
    tmp: `/proc/${holder.pid}/root/tree/tmp`,
  }
  pool.refill()
  return {
    report: first.report,
    unavailable: null,
    files,
    egress: () => [],
    async run(command) {
      const take = async () => {
        const parked = spare ?? (await pool.take())
        spare = null
        return parked.kind === 'parked' ? { sandbox: parked.sandbox, report: parked.report } : parked
      }
      const result = await runCommand(take, command, runContext)
      pool.refill()
      return result
    },
    async close() {
      await Promise.all([pool.close(), spare?.sandbox.discard(), files?.close()])
      spare = null
      await holder.close()
    },
  }
}

async function parkAndJudge(context: ParkContext, expected: Expected, policy: SandboxOptions['policy']): Promise<Parked | NotParked> {
  const parked = await parkSandbox(context)
  if (parked.kind === 'failed') {
    return { kind: 'unavailable', reason: `a command's sandbox could not be started: ${parked.stderr.trim()}`, missing: [] }
  }
  const report = judgeEvidence(parked.sandbox.evidence, context.holder, expected)
  if (report.state === 'enforced' || policy === 'prefer') return { kind: 'parked', sandbox: parked.sandbox, report }
  await parked.sandbox.discard()
  return {
    kind: 'unavailable',
    reason: `the sandbox lacks ${report.missing.join(', ')}, which the policy requires`,
    missing: report.missing,
  }
}

function openFileHost(options: SandboxOptions, context: ParkContext): FileHostClient {
  const { engine, holder, seccomp } = context
  const entry = sandboxEntries.fileHost.slice(dirname(sandboxEntries.fileHost).length + 1)
  return createFileHost(() => startFileHost({ engine, holder, user: options.user, limits: options.limits, seccomp, entry }))
}

function refusalOf(options: SandboxOptions, profile: Profile | null): string | null {
  if (!profile) return `there is no sandbox profile named ${JSON.stringify(options.profile)}`
  if (!profile.networks.includes(options.network.kind)) return `the profile ${profile.name} has no network "${options.network.kind}"`
  if (options.user.uid === 0) return 'a sandbox must not be started as root: give the session a user of its own'
  const self = process.getuid?.()
  if (self !== 0 && self !== options.user.uid) return `a worker that runs as uid ${self} cannot start a sandbox as uid ${options.user.uid}`
  return null
}

function unavailableSandbox(options: SandboxOptions, reason: string, missing: readonly string[]): Sandbox {
  const report: SandboxReport = { engine: 'bwrap', state: 'none', profile: options.profile, missing: [...missing] }
  return {
    report,
    unavailable: { reason, missing },
    files: null,
    egress: () => [],
    run: async () => ({ kind: 'unavailable', reason, missing }),
    close: async () => {},
  }
}

function engineMounts(folder: RunFolder): EngineMounts {
  return { fileHost: dirname(sandboxEntries.fileHost), relay: dirname(sandboxEntries.relay), proxy: folder.proxy }
}

/** Frozen by a test: nothing of the worker's own environment reaches a command. */
export const agentEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: insidePaths.home,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  TMPDIR: insidePaths.tmp,
  LANG: 'C.UTF-8',
  TERM: 'dumb',
} as const
