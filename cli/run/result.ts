import {
  type Cell,
  cells,
  emptyTaskState,
  endWords,
  isProblemCode,
  lastSandbox,
  type Outcome,
  type Payload,
  type ProblemCode,
  receiptTypes,
  type TaskState,
} from '../../domain/index.ts'
import { exitCodeOf, exitCodes } from '../exit.ts'
import type { OutFiles } from './out-folder.ts'

type CheckSummary = Pick<Payload<'check.settled'>, 'name' | 'source' | 'exitCode' | 'killedBy' | 'counts' | 'durationMs'> & {
  passed: boolean
}
/** `not-run`: no check ran in this cell, so it proves nothing. */
export type CellSummary = { state: 'passed' | 'failed' | 'not-run'; checks: CheckSummary[] }

/** The one object `run --json` prints last. */
export type RunResult = {
  outcome: Outcome
  /** Why it ended so, in one sentence of ours. */
  reason: string
  /** Why there is no success, as a code of the catalogue; null where there is, and in records from before there were codes. */
  code: ProblemCode | null
  /** The model's last words. */
  summary: string
  /** Absolute path of a `git diff --binary --full-index`; null when there is no change. */
  patch: string | null
  bundle: string | null
  /** Whether the bundle carries this installation's signature. */
  signed: boolean
  /** Whether the change was put into the work tree. */
  applied: boolean
  receipts: number
  usage: { turns: number; inputTokens: number; cachedTokens: number; outputTokens: number; costMicroUsd: number | null }
  verdict: 'proven' | 'unproven' | 'no-change' | null
  evidence: Record<Cell, CellSummary>
  sandbox: { state: 'enforced' | 'partial' | 'none'; profile: string | null; engine: string | null; missing: string[] }
  base: string | null
  files: { path: string; added: number | null; removed: number | null }[]
  /** What the session did and the change does not hold: left out as no work of the task's, or refused. */
  leftOut: { path: string; reason: string }[]
  /** Null: nothing was started. */
  taskId: string | null
  durationMs: number
}

/** The same of a task that is read again later: whether somebody applied its change is not recorded. */
export type RecordedResult = Omit<RunResult, 'applied'>

export function resultOf(state: TaskState, taskId: string | null, out: OutFiles & { signed: boolean }, durationMs: number): RecordedResult {
  const { spent, session, change, verdict, accepted, outcome } = state
  const sandbox = lastSandbox(state)
  return {
    outcome: outcome?.outcome ?? 'errored',
    reason: outcome ? endWords(outcome) : 'the run has no outcome',
    code: isProblemCode(outcome?.code) ? outcome.code : null,
    summary: outcome?.summary || (session?.ended?.text ?? ''),
    patch: out.patch,
    bundle: out.bundle,
    signed: out.signed,
    receipts: countReceipts(state),
    usage: {
      turns: session?.turns.length ?? 0,
      inputTokens: spent.inputTokens,
      cachedTokens: spent.cachedTokens,
      outputTokens: spent.outputTokens,
      costMicroUsd: costOf(state),
    },
    verdict: verdict?.verdict ?? null,
    evidence: evidenceCells(state),
    sandbox: {
      state: sandbox?.state ?? 'none',
      profile: sandbox?.profile ?? null,
      engine: sandbox?.engine ?? null,
      missing: sandbox?.missing ?? [],
    },
    base: accepted?.base.sha ?? null,
    files: (change?.files ?? []).map(({ path, added, removed }) => ({ path, added, removed })),
    leftOut: [...(change?.refused ?? []), ...(change?.leftOut ?? [])].map(({ path, reason }) => ({ path, reason })),
    taskId,
    durationMs: Math.round(durationMs),
  }
}

/** The object of a run that was refused before there was a task. */
export function refusedResult(reason: string, code: ProblemCode, durationMs: number): RunResult {
  const nothing = { patch: null, bundle: null, problem: null, signed: false }
  return { ...resultOf(emptyTaskState(), null, nothing, durationMs), applied: false, outcome: 'refused', reason, code }
}

/** Null when some of it has no known price: a sum of the rest would be too low. */
export function costOf({ spent }: TaskState): number | null {
  return spent.unpriced > 0 || spent.lostRequests > 0 ? null : spent.costMicroUsd
}

function evidenceCells(state: TaskState): Record<Cell, CellSummary> {
  return Object.fromEntries(cells.map(cell => [cell, summariseCell(state.checks[cell])])) as Record<Cell, CellSummary>
}

function summariseCell(results: readonly Payload<'check.settled'>[]): CellSummary {
  const checks = results.map(({ name, source, exitCode, killedBy, counts, durationMs }) => {
    return { name, passed: exitCode === 0 && killedBy === null, exitCode, killedBy, counts, source, durationMs }
  })
  if (checks.length === 0) return { state: 'not-run', checks }
  return { state: checks.every(check => check.passed) ? 'passed' : 'failed', checks }
}

/** One for each event whose projection is a receipt. */
export function countReceipts(state: TaskState): number {
  const turns = state.session?.turns ?? []
  const counted: Record<(typeof receiptTypes)[number], number> = {
    'model.answered': turns.filter(turn => turn.answer !== null).length,
    'tool.settled': turns.flatMap(turn => turn.calls).filter(call => call.settled !== null).length,
    'check.settled': cells.reduce((sum, cell) => sum + state.checks[cell].length, 0),
    'effect.settled': Object.values(state.effects).filter(effect => effect.remote !== null).length,
  }
  return receiptTypes.reduce((sum, type) => sum + counted[type], 0)
}

/**
 * As the outcome says; a run that its limits stopped ends with 4 also when a part of a change was made, and proof that
 * nobody signed with 5.
 */
export function exitCodeOfState(state: TaskState, signed: boolean): number {
  const outcome = state.outcome?.outcome ?? 'errored'
  if (outcome === 'failed' && endedByLimit(state)) return exitCodes.limit
  return outcome === 'succeeded' && !signed ? exitCodes.lowerRung : exitCodeOf(outcome)
}

/** Whether the session had more to do when one of its limits ended it, whatever became of its change. */
export function endedByLimit({ session }: TaskState): boolean {
  const ended = session?.ended?.reason
  return ended === 'turns' || ended === 'tokens' || ended === 'cost' || ended === 'deadline'
}
