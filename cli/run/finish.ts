import path from 'node:path'
import type { Environment } from '../../config-schema/index.ts'
import type { TaskState } from '../../domain/index.ts'
import { bundlePath, patchPath, publicKeysFolder, taskFolder } from '../../worker/index.ts'
import { calledAs } from '../called-as.ts'
import { toSafeJson } from '../escape.ts'
import type { RunOptions } from '../run.ts'
import { isSigned } from '../tasks/out-files-of.ts'
import { type ApplyOutcome, applyHere, shellWord } from './local-repository.ts'
import { writeOutFiles } from './out-folder.ts'
import { type ReportFacts, renderReport } from './report.ts'
import { endedByLimit, exitCodeOfState, resultOf } from './result.ts'

type Finish = {
  taskId: string
  dataDir: string
  options: RunOptions
  startedAt: number
  environment: Environment
  /** Null: none was needed. */
  modelUrl: string | null
}

/** Puts the files where they belong, applies the change when that was asked for and is proven, and says all of it. Returns the exit code. */
export async function finishRun(state: TaskState, finish: Finish): Promise<number> {
  const { taskId, dataDir, options, startedAt } = finish
  const taskDir = taskFolder(dataDir, taskId)
  const root = state.accepted?.repository.url ?? path.resolve(options.repo)
  const out = writeOutFiles(root, taskId, { patch: patchPath(taskDir), bundle: bundlePath(taskDir) })
  const applied = options.apply ? await applyProven(state, root, out.patch, finish) : null
  const recorded = resultOf(state, taskId, { ...out, signed: isSigned(out.bundle) }, performance.now() - startedAt)
  const result = { ...recorded, applied: applied?.kind === 'applied' }
  if (options.json || options.streamJson) process.stdout.write(`${toSafeJson(result)}\n`)
  else {
    const notApplied = applied?.kind === 'not-applied' ? applied : null
    process.stdout.write(`${renderReport(result, { root, outProblem: out.problem, notApplied, ...factsOf(state, finish) })}\n`)
  }
  const code = exitCodeOfState(state, result.signed)
  // Asked to apply and not applied is no success, whatever the change is worth.
  return code === 0 && applied?.kind === 'not-applied' ? 1 : code
}

function factsOf(state: TaskState, { environment, dataDir, modelUrl }: Finish): Omit<ReportFacts, 'root' | 'outProblem' | 'notApplied'> {
  return {
    ...countCalls(state),
    cwd: process.cwd(),
    endedByLimit: endedByLimit(state),
    program: calledAs(environment),
    keysDir: publicKeysFolder(dataDir),
    silentModel: state.session?.ended?.reason === 'model-error' ? modelUrl : null,
  }
}

async function applyProven(state: TaskState, root: string, patch: string | null, finish: Finish): Promise<ApplyOutcome> {
  const { accepted, change } = state
  if (!accepted || !change || change.files.length === 0) return { kind: 'not-applied', reason: 'there is no change', next: 'nothing to do' }
  if (patch === null) return { kind: 'not-applied', reason: 'it is too large to be kept as a patch', next: 'ask for a smaller one' }
  if (state.outcome?.outcome !== 'succeeded') {
    return {
      kind: 'not-applied',
      reason: 'no check proves the change',
      next: `read it, then: git apply --index ${path.relative(root, patch)}`,
    }
  }
  const { taskId, dataDir, environment } = finish
  const data = finish.options.data === undefined ? '' : ` --data ${shellWord(finish.options.data)}`
  const again = `${calledAs(environment)} run --resume ${taskId} --apply${data}`
  // Read from the data folder, which nothing of the repository can reach.
  const proven = { base: accepted.base.sha, tree: change.tree, patch: patchPath(taskFolder(dataDir, taskId)) }
  return await applyHere(root, proven, { patch, again })
}

function countCalls({ session }: TaskState): { commands: number; denied: number } {
  const settled = (session?.turns ?? []).flatMap(turn => turn.calls).flatMap(call => (call.settled ? [call.settled] : []))
  const denied = settled.filter(call => call.status === 'denied').length
  return { commands: settled.filter(call => call.kind === 'execute' && call.status !== 'denied').length, denied }
}
