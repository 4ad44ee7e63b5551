import { basename } from 'node:path'
import { entryPath } from '../entries.ts'
import { fileHostArguments, relayArguments, treeRoot } from './bwrap-arguments.ts'
import { proxyEnvironment } from './egress/environment.ts'
import { type EgressProxy, startEgressProxy } from './egress/proxy.ts'
import type { Engine } from './engine.ts'
import { commandEnvironment } from './environment.ts'
import { explainFailure } from './failure-cause.ts'
import type { FifoStore } from './fifo-store.ts'
import { createFileHost } from './file-host.ts'
import type { Holder } from './holder.ts'
import { type Expected, judgeEvidence } from './judge-evidence.ts'
import { engineLimits } from './limits.ts'
import { type ParkContext, parkSandbox } from './parked-sandbox.ts'
import type { TreeStep } from './plan-tree.ts'
import { createPool, type NotParked, type Parked } from './pool.ts'
import type { Profile } from './profiles.ts'
import { type RunContext, runCommand } from './run-command.ts'
import type { RunFolder } from './run-folder.ts'
import type { Command, Sandbox, SandboxOptions } from './sandbox.ts'
import type { SharedFiles } from './shared-files.ts'
import { type Companion, startCompanion } from './start-companion.ts'

export type SessionContext = {
  options: SandboxOptions
  profile: Profile
  folder: RunFolder
  seccomp: SharedFiles['seccomp']
  engine: Engine
  holder: Holder
  steps: readonly TreeStep[]
  fifos: FifoStore
}

export type SessionOpened = { kind: 'opened'; sandbox: Sandbox } | NotParked

/** Starts what lives beside the commands, measures the first command sandbox, and keeps the session's pool. */
export async function openSession(context: SessionContext): Promise<SessionOpened> {
  const { options, holder } = context
  const egress = await openEgress(context)
  if (typeof egress === 'string') return { kind: 'unavailable', reason: egress, missing: ['netRestrict'] }
  const parking = parkContext(context)
  const park = () => parkAndJudge(parking, expectedOf(context), options.policy)
  // The first one is started whatever the pool's size: what it is measured to be is what this session reports.
  const first = await park()
  if (first.kind !== 'parked') {
    await egress?.close()
    return first
  }
  const pool = createPool(options.poolSize, park)
  pool.put(first)
  const files = options.files
    ? createFileHost(() =>
        companion(context, context.seccomp.fileHost, false, fileHostArguments(basename(entryPath('fileHost')), context.engine.ripgrep)),
      )
    : null
  const running = new Set<Promise<unknown>>()
  const closing = new AbortController()
  const sandbox: Sandbox = {
    report: first.report,
    unavailable: null,
    files,
    egress: () => egress?.log() ?? [],
    async run(command) {
      const take = async () => {
        const parked = await pool.take()
        // Its launcher ends a moment after its result; closing the session waits for that too.
        if (parked.kind === 'parked') track(running, parked.sandbox.launched.closed)
        return parked
      }
      const result = runCommand(take, endsWith(command, closing.signal), runContext(context))
      track(running, result)
      try {
        return await result
      } finally {
        pool.refill()
      }
    },
    async close() {
      closing.abort()
      await Promise.all([pool.close(), files?.close(), ...running])
      await egress?.close()
      await holder.close()
    },
  }
  pool.refill()
  return { kind: 'opened', sandbox }
}

function track(set: Set<Promise<unknown>>, work: Promise<unknown>): void {
  set.add(work)
  work.finally(() => set.delete(work)).catch(() => {})
}

async function parkAndJudge(context: ParkContext, expected: Expected, policy: SandboxOptions['policy']): Promise<Parked | NotParked> {
  const parked = await parkSandbox(context)
  if (parked.kind === 'failed') {
    const reason = context.holder.alive() ? explainFailure(parked) : "the session's holder has ended; open a new sandbox"
    return { kind: 'unavailable', reason, missing: [] }
  }
  const { report, lacking } = judgeEvidence(parked.sandbox.evidence, context.holder, expected)
  if (lacking.length === 0 || policy === 'prefer') return { kind: 'parked', sandbox: parked.sandbox, report }
  await parked.sandbox.discard()
  return {
    kind: 'unavailable',
    reason: `the sandbox lacks ${lacking.join(', ')}, which the policy requires`,
    missing: lacking,
  }
}

/** The proxy outside and the relay inside; null when the network is not `proxy`, a reason when they do not start. */
async function openEgress(context: SessionContext): Promise<EgressProxy | null | string> {
  const { options, folder } = context
  if (options.network.kind !== 'proxy') return null
  const proxy = await startEgressProxy(folder.proxy, options.user, {
    allow: options.network.allow,
    permitted: options.privateEgress ?? [],
    sentBytesMax: options.limits.egressSentBytesMax,
    receivedBytesMax: options.limits.egressReceivedBytesMax,
  })
  const relay = await companion(
    context,
    context.seccomp.commands,
    true,
    relayArguments(basename(entryPath('relay')), engineLimits.relayPort),
  )
  if (typeof relay === 'string') {
    await proxy.close()
    return `the egress relay did not start: ${relay}`
  }
  relay.output.resume()
  return {
    log: proxy.log,
    async close() {
      relay.kill()
      await Promise.all([relay.ended, proxy.close()])
    },
  }
}

function companion(context: SessionContext, seccomp: string, net: boolean, bwrapArguments: string[]): Promise<Companion | string> {
  const { engine, holder, options } = context
  return startCompanion({ engine, holder, user: options.user, limits: options.limits, seccomp, net, bwrapArguments })
}

function parkContext({ options, seccomp, engine, holder, fifos }: SessionContext): ParkContext {
  return {
    engine,
    holder,
    fifos,
    user: options.user,
    limits: options.limits,
    seccomp: seccomp.commands,
    environment: { ...commandEnvironment(options.path), ...proxyEnvironment(options.network, engineLimits.relayPort) },
    net: options.network.kind !== 'host',
  }
}

function expectedOf({ options, profile, steps }: SessionContext): Expected {
  const net = options.network.kind === 'host' ? 'host' : 'private'
  return { steps, net, user: options.user, limits: options.limits, profile: profile.name }
}

function runContext({ options, profile, folder, holder }: SessionContext): RunContext {
  return {
    limits: options.limits,
    inbox: folder.inbox,
    outputFolder: folder.output,
    disk: profile.workspaceWritable ? (options.workspace?.source ?? folder.workspace) : folder.home,
    // The session's /tmp, seen through the holder's mount namespace.
    tmp: `/proc/${holder.pid}/root${treeRoot}/tmp`,
  }
}

/** A command that also ends when the session is closed. */
function endsWith(command: Command, closing: AbortSignal): Command {
  return { ...command, signal: command.signal ? AbortSignal.any([command.signal, closing]) : closing }
}
