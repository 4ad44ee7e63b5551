import picomatch from 'picomatch'
import type { ToolKind } from '../tools/kinds.ts'

/** What a row of a gate table applies to. A part that is left out matches everything. */
export type GateRow = {
  id: string
  reason: string
  tools?: readonly string[]
  kinds?: readonly ToolKind[]
  /** Globs over the call's path, relative to the workspace; a call without a path never matches a row with one. */
  paths?: readonly string[]
}

type PermissionRule = GateRow & { verdict: 'allow' | 'ask' | 'deny' }

/** The tables of the gate. All are consulted for every call, the empty ones too. */
export type GateTables = {
  /** What may not be done while a plan is being made. */
  plan: readonly GateRow[]
  /** What the operator's policy never lets happen. */
  policy: readonly GateRow[]
  /** deny > ask > allow, whatever their order. */
  rules: readonly PermissionRule[]
  /** What becomes of a call that no rule speaks of: `granted` = the grant that was checked before is enough. */
  unruled: 'granted' | 'ask'
}

export const emptyGateTables: GateTables = { plan: [], policy: [], rules: [], unruled: 'granted' }

export type GateSubject = { name: string; kind: ToolKind; path: string | null }

export function rowMatches(row: GateRow, subject: GateSubject): boolean {
  if (row.tools && !row.tools.includes(subject.name)) return false
  if (row.kinds && !row.kinds.includes(subject.kind)) return false
  if (!row.paths) return true
  // Case is folded: on a file system that folds it, `.GitHub/x` is `.github/x`.
  return subject.path !== null && picomatch.isMatch(subject.path, [...row.paths], { dot: true, nocase: true })
}
