import { type Cell, type CellResult, type CheckEvidence, cells, judgeEvidence, type Payload, type TaskState } from '../domain/index.ts'
import type { Change } from './collect-change.ts'
import type { Base, Task } from './task.ts'

export type Verdict = Payload<'change.judged'>

/** Records what the cells prove. A change with no file is judged too, so that the end has a reason. */
export async function judgeChange(task: Task, base: Base, change: Change): Promise<Verdict> {
  const state = task.log.state()
  if (state.verdict) return state.verdict
  const verdict = judge(state, base, change)
  await task.log.record({ type: 'change.judged', commandId: `${task.id}:judged`, payload: verdict })
  return verdict
}

function judge(state: TaskState, base: Base, change: Change): Verdict {
  if (change.files.length === 0) return { verdict: 'no-change', reasons: change.refused.map(({ path, reason }) => `${path}: ${reason}`) }
  const changedTests = change.files.filter(file => file.notes.includes('test file')).length
  const facts = { changedTests, setupFailed: (state.setup?.exitCode ?? 0) !== 0, tainted: state.taint.length > 0 }
  const judged = judgeEvidence(evidenceOf(state, base.checks.commands), facts)
  const { problem } = base.config
  const reasons = problem ? [`the repository's config is broken: ${problem}`, ...judged.reasons] : judged.reasons
  return { verdict: reasons.length === 0 ? 'proven' : 'unproven', reasons }
}

/** The four cells of each check, as `--json` prints them and the judgement reads them. */
export function evidenceOf(state: TaskState, names: readonly string[]): CheckEvidence[] {
  return names.map(name => {
    const found: Partial<Record<Cell, CellResult>> = {}
    for (const cell of cells) {
      const check = state.checks[cell].find(result => result.name === name)
      if (!check) continue
      const setupFailed = check.setup !== undefined && check.setup.exitCode !== 0
      found[cell] = { exitCode: check.exitCode, killedBy: check.killedBy, counts: check.counts, ...(setupFailed ? { setupFailed } : {}) }
    }
    return { name, cells: found }
  })
}
