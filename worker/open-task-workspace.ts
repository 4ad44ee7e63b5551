import path from 'node:path'
import type { SandboxReport } from '../domain/index.ts'
import { type AdoptedTree, openWorkspace } from '../git/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import { makeTree, type TreePlace } from './make-tree.ts'
import { type SandboxPlace, sandboxLimitsOf } from './open-task-sandbox.ts'
import { beginProbe } from './probe-sandbox.ts'
import { report } from './report.ts'
import { isQuestion } from './road.ts'
import { runSetup } from './run-setup.ts'
import type { Base, Task, TaskWorkspace } from './task.ts'
import { TaskFault } from './task-fault.ts'

/** Checks the start out, runs its setup, and records both; the tree after setup is what "changed" is measured against. */
export async function openTaskWorkspace(task: Task, base: Base): Promise<TaskPlace> {
  const { ports, settings } = task
  report(task, { kind: 'stage', stage: 'workspace', detail: base.start.sha.slice(0, 12) })
  // The mirror's own group is what lets this session, and no other, read its objects.
  const user = base.mirror.gid === null ? ports.user : { uid: ports.user.uid, gid: base.mirror.gid }
  const sandbox = sandboxPlaceOf(task, user)
  const opening = openWorkspace({ mirror: base.mirror, store: base.store, sha: base.start.sha, runDir: task.runDir, user })
  task.room.prepare()
  const workspace = await opening
  crashpoint('workspace.opened')
  const rules = {
    fileBytesMax: settings.limits.treeFileBytesMax,
    packBytesMax: settings.limits.treePackBytesMax,
    filesMax: settings.limits.treeFilesMax,
  }
  const place: TaskPlace = {
    sandbox,
    store: base.store,
    workspace,
    workDir: path.join(task.runDir, 'trees'),
    rules,
    sessionDir: path.join(task.runDir, 'session'),
  }
  const { baseSha, baseTree, files } = workspace
  if (!task.log.state().workspace) {
    const report = await measuredSandbox(task, base, sandbox)
    await task.log.record({
      type: 'workspace.opened',
      commandId: `${task.id}:workspace`,
      payload: { baseSha, baseTree, files, sandbox: report, ...(base.config.links.value === 'artifact' ? { links: 'artifact' } : {}) },
    })
  }
  await raiseForkTaint(task)
  const opened = task.log.state().workspace
  if (opened) report(task, { kind: 'opened', sandbox: opened.sandbox, network: 'none' })
  // What setup made of tracked files is in the recorded trees; to keep work no command is run for the rest. A question runs
  // in a work tree nothing can be written to.
  if (task.walk === 'whole' && !isQuestion(task)) await setUp(task, base, place)
  return place
}

/** Everything a fork's head holds was written by somebody who need not be able to write here; it is checked out, read and run. */
async function raiseForkTaint(task: Task): Promise<void> {
  const { pull, subject } = task.accepted
  const source = 'untrusted-repository'
  if (!pull?.fork || task.log.state().taint.some(taint => taint.source === source)) return
  const detail = `the head of pull request #${subject?.number} lies in a fork`
  await task.log.record({ type: 'taint.raised', commandId: `${task.id}:taint:${source}`, payload: { source, detail } })
}

/** The report of the probe that was begun with the task, unless the repository's own settings chose another profile. */
async function measuredSandbox(task: Task, base: Base, sandbox: SandboxPlace): Promise<SandboxReport> {
  const profile = base.config.profile.value
  if (task.probe?.profile === profile) return await task.probe.report
  await task.probe?.gone
  const probe = beginProbe(sandbox, profile, path.join(task.runDir, 'probe'))
  await probe.gone
  return await probe.report
}

export type TaskPlace = Omit<TreePlace, 'workspace'> & { workspace: TaskWorkspace; sessionDir: string }

/** What of it may cross into a session's thread: data only. */
export function treePlaceOf({ sandbox, store, workspace: { remove: _, ...workspace }, workDir, rules }: TaskPlace): TreePlace {
  return { sandbox, store, workspace, workDir, rules }
}

async function setUp(task: Task, base: Base, place: TaskPlace): Promise<void> {
  report(task, { kind: 'stage', stage: 'setup', detail: base.setup.commands.join('; ') || 'nothing to set up' })
  const setup = await runSetup(task, place.sandbox, base, place.workspace, place.sessionDir)
  crashpoint('setup.done')
  if (task.log.state().setup) return
  const baseline = base.setup.commands.length === 0 ? place.workspace.baseTree : await baselineOf(place)
  const { exitCode, output, durationMs, hosts, sandbox } = setup
  await task.log.record({
    type: 'setup.settled',
    commandId: `${task.id}:setup`,
    payload: {
      commands: [...base.setup.commands],
      source: base.setup.source,
      exitCode,
      output,
      durationMs,
      baselineTree: baseline,
      hosts,
      ...(sandbox ? { sandbox } : {}),
    },
  })
}

async function baselineOf(place: TaskPlace): Promise<string> {
  return treeAfterSetup(await makeTree(place, { kind: 'all' }))
}

export function treeAfterSetup(adopted: AdoptedTree): string {
  if (adopted.kind === 'refused')
    throw new TaskFault('tree-refused', `after setup the work tree can not be recorded: ${adopted.path} ${adopted.reason}`)
  return adopted.tree
}

/** What all sandboxes of this data folder have in common. */
export function sharedFolder(dataDir: string): string {
  return path.join(dataDir, 'sandbox')
}

/** What no sandbox of ours may see, whatever its profile: our own data above all. */
export function sandboxPlaceOf({ ports, settings }: Pick<Task, 'ports' | 'settings'>, user: SandboxPlace['user']): SandboxPlace {
  const { sandbox } = settings.operator
  return {
    user,
    policy: sandbox?.policy ?? 'required',
    sharedDir: sharedFolder(ports.dataDir),
    masked: [ports.dataDir, ...(sandbox?.masked ?? [])],
    roots: sandbox?.roots ?? [],
    readHost: sandbox?.readHost ?? false,
    wallMs: settings.limits.commandWallMsMax,
    limits: sandboxLimitsOf(settings.limits),
  }
}
