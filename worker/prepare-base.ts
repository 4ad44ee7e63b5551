import path from 'node:path'
import {
  describeProblems,
  type EffectiveConfig,
  effectiveConfig,
  narrowestProfile,
  type ProfileName,
  parseConfig,
  RepositoryConfig,
  type RepositoryRead,
} from '../config-schema/index.ts'
import { detectCommands, findCommand, type Limits, lastSandbox } from '../domain/index.ts'
import { listTreeAt, type Mirror, openMirror, openStore, readFileAt } from '../git/index.ts'
import { describeProfile } from '../sandbox/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { bringUp, startOf } from './bring-up.ts'
import { workerLimits } from './limits.ts'
import { report } from './report.ts'
import { goOn, Stopped } from './stopped.ts'
import type { Base, CommandPlan, HostPort, Task } from './task.ts'
import { TaskFault } from './task-fault.ts'

const configPath = '.github/grok.yml'
const instructionFiles = ['AGENTS.md', 'CLAUDE.md'] as const

/**
 * Brings the mirror up to the commits a task needs and reads the repository's own settings from its base, never from later
 * commits and never from a pull request's head.
 */
export async function prepareBase(task: Task): Promise<Base> {
  const { accepted, ports, settings } = task
  refuseHopeless(task)
  report(task, { kind: 'stage', stage: 'mirror', detail: `${accepted.repository.owner}/${accepted.repository.name}` })
  const mirror = await openMirror({
    dataDir: ports.dataDir,
    tenant: tenantOf(task),
    repositoryId: accepted.repository.id,
    wallMs: settings.limits.gitWallMs,
  })
  const start = startOf(task)
  await bringUp(task, mirror, start)
  crashpoint('mirror.fetched')
  const store = await openStore({ dataDir: ports.dataDir, mirror, taskId: task.id })
  const { repository, detected, instructions } = await readRepository(mirror, accepted.base.sha)
  const config = effectiveConfig(settings.operator, repository, profileMaxOf(task))
  return {
    mirror,
    store,
    sha: accepted.base.sha,
    start,
    config,
    limits: narrowLimits(accepted.limits, config),
    instructions,
    setup: planOf(config.setup.value, detected?.setup),
    checks: planOf(config.checks.value, detected?.checks),
    egress: [...(detected?.hosts ?? []), ...config.egressAllow.value].map(toHostPort),
    privateEgress: config.egressAllowPrivate.value.map(toHostPort),
  }
}

/** Before anything is opened: a task that was cancelled while it waited, or that has killed its workers too often. */
function refuseHopeless(task: Task): void {
  if (task.walk === 'end-only') {
    if (task.log.state().cancel) throw new Stopped('cancelled')
    throw new TaskFault('attempts-died', `${task.attempt - 1} attempts died at this task; it is not tried again`)
  }
  if (task.walk === 'whole') goOn(task)
}

/**
 * What the commands of this task may have at most: what it was accepted with, what its earlier commands had, and what the
 * operator allows today. A setting that was widened later is for later tasks.
 */
export function profileMaxOf({ accepted, log, ports, settings }: Task): ProfileName {
  const granted = accepted.grant.profile
  const row = findCommand(accepted.command.verb)
  // The operator's profile is for changes; a command that changes nothing keeps its own.
  const today = row && row.road !== 'fix' ? granted : (settings.operator.sandbox?.profile ?? row?.profile ?? granted)
  const state = log.state()
  const had = [state.workspace?.sandbox, lastSandbox(state)].map(report => report?.profile ?? granted)
  const narrowest = narrowestProfile([granted, ...had, today])
  if (narrowest !== null && ports.tenants === 'several' && describeProfile(narrowest)?.singleTenantOnly)
    throw new TaskFault(
      'profile-narrowed',
      `the profile ${narrowest} is for a worker of one tenant, and this one serves several; nothing was run`,
    )
  if (narrowest !== null) return narrowest
  throw new TaskFault(
    'profile-narrowed',
    `the task was accepted with the profile ${granted} and the operator's is now ${today}; no profile is within both`,
  )
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content).toString('utf8')
}

/** An owner has one installation of the App, and its login may change. */
function tenantOf({ accepted }: Task): string {
  return accepted.installationId === null ? 'local' : `i${accepted.installationId}`
}

async function readConfig(mirror: Mirror, sha: string): Promise<RepositoryRead> {
  const file = await readFileAt(mirror, sha, configPath, workerLimits.baseFileBytesMax)
  if (file.kind === 'absent') return { kind: 'absent' }
  if (file.kind === 'refused') return { kind: 'broken', problem: `${configPath}: ${file.message}` }
  const parsed = parseConfig(RepositoryConfig, textOf(file.content))
  if (parsed.kind === 'parsed') return { kind: 'read', config: parsed.value }
  return { kind: 'broken', problem: describeProblems(configPath, parsed.problems).join('; ') }
}

/** The task's own limits were fixed when it was accepted; the repository's file can lower them. */
function narrowLimits(accepted: Limits, { limits }: EffectiveConfig): Limits {
  const cost = limits.costMicroUsdMax.value || null
  return {
    turnsMax: Math.min(accepted.turnsMax, limits.turnsMax.value),
    wallMs: Math.min(accepted.wallMs, limits.taskWallMs.value),
    tokensMax: Math.min(accepted.tokensMax, limits.tokensMax.value),
    costMicroUsdMax: accepted.costMicroUsdMax === null ? cost : Math.min(accepted.costMicroUsdMax, cost ?? accepted.costMicroUsdMax),
  }
}

/** One look at the root says which files there are to read; they are read side by side. */
async function readRepository(mirror: Mirror, sha: string) {
  const entries = await listTreeAt(mirror, sha, { entriesMax: workerLimits.rootEntriesMax })
  // Null: the root is too large to be listed, so every file is looked for.
  const names = entries === null ? null : new Set(entries.map(entry => entry.path))
  const mayHave = (name: string) => names === null || names.has(name)
  const [repository, detected, instructions] = await Promise.all([
    mayHave(path.dirname(configPath)) ? readConfig(mirror, sha) : ({ kind: 'absent' } as const),
    detectAt(mirror, sha, names ?? new Set()),
    readInstructions(mirror, sha, mayHave),
  ])
  return { repository, detected, instructions }
}

async function detectAt(mirror: Mirror, sha: string, names: ReadonlySet<string>) {
  const wanted = ['package.json', 'pyproject.toml', 'setup.cfg', 'Makefile', 'makefile', 'GNUmakefile'].filter(name => names.has(name))
  const texts = new Map<string, string>()
  for (const name of wanted) {
    const file = await readFileAt(mirror, sha, name, workerLimits.baseFileBytesMax)
    if (file.kind === 'file') texts.set(name, textOf(file.content))
  }
  return detectCommands({ names, read: name => texts.get(name) ?? null })
}

async function readInstructions(mirror: Mirror, sha: string, mayHave: (name: string) => boolean) {
  for (const name of instructionFiles.filter(mayHave)) {
    const file = await readFileAt(mirror, sha, name, workerLimits.baseFileBytesMax)
    if (file.kind === 'file') return [{ path: name, text: textOf(file.content) }]
  }
  return []
}

function planOf(configured: readonly string[] | null, detected: readonly string[] | undefined): CommandPlan {
  if (configured) return { commands: configured, source: 'configured' }
  if (detected && detected.length > 0) return { commands: detected, source: 'detected' }
  return { commands: [], source: 'none' }
}

function toHostPort(text: string): HostPort {
  const colon = text.lastIndexOf(':')
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) }
}
