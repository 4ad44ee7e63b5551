import { createHash } from 'node:crypto'
import path from 'node:path'
import { type Cell, decidesChecks, type Payload, type SandboxReport } from '../domain/index.ts'
import { mixTrees, openWorkspace, removeRun } from '../git/index.ts'
import { type CommandResult, passable, type Sandbox } from '../sandbox/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import type { Change } from './collect-change.ts'
import { countTests } from './count-tests.ts'
import { workerLimits } from './limits.ts'
import { openTaskSandbox, type SandboxPlace, workOptions } from './open-task-sandbox.ts'
import type { TaskPlace } from './open-task-workspace.ts'
import { report } from './report.ts'
import { runSetup, type SetupResult } from './run-setup.ts'
import { goOn } from './stopped.ts'
import type { Base, Task } from './task.ts'

type CheckSettled = Payload<'check.settled'>

/**
 * The four cells of evidence: base and new code × base and new tests, each on a clean checkout of its tree with setup done
 * again, in a fresh sandbox, by the worker. A tree that two cells share is run once.
 */
export async function runChecks(task: Task, base: Base, change: Change, { workspace, sandbox: place }: TaskPlace): Promise<void> {
  const trees = await cellTrees(base, change, workspace.baseTree)
  for (const [tree, cells] of groupByTree(trees)) {
    const missing = cells.filter(cell => !isSettled(task, cell, base.checks.commands))
    if (missing.length === 0 || base.checks.commands.length === 0) continue
    task.comment.next('')
    report(task, { kind: 'stage', stage: 'checks', detail: missing.join(', ') })
    await checkTree(task, base, tree, missing, place)
  }
}

export async function cellTrees(base: Base, change: Change, baseTree: string): Promise<Record<Cell, string>> {
  const tests = change.files.filter(file => decidesChecks(file.path) || (file.from !== null && decidesChecks(file.from)))
  const paths = [...new Set(tests.flatMap(file => (file.from ? [file.path, file.from] : [file.path])))]
  return {
    baseCodeBaseTests: baseTree,
    newCodeNewTests: change.tree,
    newCodeBaseTests: await mixTrees(base.store, { into: change.tree, from: baseTree, paths }),
    baseCodeNewTests: await mixTrees(base.store, { into: baseTree, from: change.tree, paths }),
  }
}

function groupByTree(trees: Record<Cell, string>): Map<string, Cell[]> {
  const groups = new Map<string, Cell[]>()
  for (const [cell, tree] of Object.entries(trees) as [Cell, string][]) groups.set(tree, [...(groups.get(tree) ?? []), cell])
  return groups
}

function isSettled(task: Task, cell: Cell, names: readonly string[]): boolean {
  const settled = task.log.state().checks[cell]
  return names.every(name => settled.some(check => check.name === name))
}

async function checkTree(task: Task, base: Base, tree: string, cells: readonly Cell[], place: SandboxPlace): Promise<void> {
  const folder = path.join(task.runDir, `check-${tree.slice(0, 12)}`)
  passable(folder)
  const workspace = await openWorkspace({
    mirror: base.mirror,
    store: base.store,
    tree,
    sha: base.start.sha,
    runDir: folder,
    user: place.user,
  })
  const runDir = path.join(folder, 'run')
  try {
    const setup = await runSetup(task, place, base, workspace, runDir)
    const wallMs = base.config.limits.checkWallMs.value
    const sandbox = await openTaskSandbox({ ...place, wallMs }, { profile: base.config.profile.value, ...workOptions(workspace, runDir) })
    try {
      for (const command of base.checks.commands) await runCheck(task, base, { command, tree, cells, sandbox, setup })
    } finally {
      await sandbox.close()
    }
  } finally {
    await workspace.remove()
    await removeRun(folder)
  }
}

type CheckRun = { command: string; tree: string; cells: readonly Cell[]; sandbox: Sandbox; setup: SetupResult }

async function runCheck(task: Task, base: Base, { command, tree, cells, sandbox, setup }: CheckRun): Promise<void> {
  const [first = 'newCodeNewTests'] = cells
  report(task, { kind: 'check', name: command, cell: first, state: 'running', detail: '', durationMs: 0 })
  const running = sandbox.run({ argv: ['bash', '-c', command], signal: task.stop })
  crashpoint('check.running')
  const result = await running
  if (result.kind !== 'ended') throw new Error(`the check \`${command}\` had no sandbox: ${result.reason}`)
  goOn(task)
  crashpoint('check.ran')
  const settled = {
    ...(await toSettled(command, tree, base, result)),
    ...(setup.sandbox === null ? {} : { setup: setupOf(setup, setup.sandbox) }),
  }
  await task.log.record(
    ...cells.map((cell, index) => ({
      type: 'check.settled' as const,
      commandId: `${task.id}:check:${cell}:${command}`,
      payload: { ...settled, cell, cached: index > 0 },
    })),
  )
  report(task, {
    kind: 'check',
    name: command,
    cell: first,
    state: result.exitCode === 0 ? 'passed' : 'failed',
    detail: detailOf(settled),
    durationMs: result.durationMs,
  })
}

function setupOf({ exitCode, hosts, durationMs }: SetupResult, sandbox: SandboxReport) {
  return { exitCode, hosts, durationMs, sandbox }
}

async function toSettled(
  command: string,
  tree: string,
  base: Base,
  result: CommandResult & { kind: 'ended' },
): Promise<Omit<CheckSettled, 'cell' | 'cached'>> {
  const output = Buffer.from(result.output).toString('utf8')
  return {
    name: command,
    command,
    source: base.checks.source === 'configured' ? 'configured' : 'detected',
    tree,
    exitCode: result.exitCode,
    killedBy: result.killedBy,
    counts: await countTests(result),
    output:
      output.length <= workerLimits.outputCharactersMax
        ? output
        : `${output.slice(0, workerLimits.outputCharactersMax / 2)}\n… cut …\n${output.slice(-workerLimits.outputCharactersMax / 2)}`,
    outputBytes: result.outputBytes,
    outputHash: result.outputHash || createHash('sha256').update(output).digest('hex'),
    sandbox: result.report,
    durationMs: Math.round(result.durationMs),
  }
}

function detailOf({ counts, exitCode, killedBy }: Pick<CheckSettled, 'counts' | 'exitCode' | 'killedBy'>): string {
  if (killedBy) return `killed: ${killedBy}`
  return counts ? `${counts.passed} pass, ${counts.failed} fail` : `exit ${exitCode}`
}
