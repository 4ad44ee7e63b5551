import { setTimeout as sleep } from 'node:timers/promises'
import { foldTask, type TaskState } from '../../domain/index.ts'
import { type Cut, type CutLine, cutKinds, startCutLine } from './cut-line.ts'
import type { Evidence } from './evidence.ts'
import { gatherEvidence } from './gather-evidence.ts'
import { commentOfFirst, type Fault, findFaults } from './oracle.ts'
import { settled } from './run-crash.ts'
import { answerOrFix, sampleFiles } from './scenes.ts'
import { openStage, type Stage } from './stage.ts'

/** What is asked where; each in a thread of its own, so that one stage bears many. Answers with the comment's id. */
export const roads = {
  fix: async (stage: Stage) => await stage.comment('/grok fix', 'mona', await stage.openIssue()),
  ask: async (stage: Stage) => await stage.comment('/grok ask what does the parser do?', 'mona', await stage.openIssue()),
  pull: async (stage: Stage, number: number) => await stage.commentOnLine('/grok fix', await stage.openPull(`feature-${number}`)),
} as const
export type Road = keyof typeof roads
export const roadNames = Object.keys(roads) as Road[]

export type CutStage = { stage: Stage; line: CutLine; close(): Promise<void>; runs: number; cuts: number; known: Set<string> }

export type CutRow = {
  road: Road
  cut: Cut | null
  /** The request was made, and cut. */
  met: boolean
  requests: string[]
  faults: Fault[]
  evidence: Evidence
}

/** Edits on the way come by the clock and would have other numbers in each run: none but the first and the last text is written. */
const limits = { progressAfterMs: 0, progressGapMs: 60_000, retryWaitMs: 100, outageWaitMs: 100 }

export async function openCutStage(): Promise<CutStage> {
  const line = await startCutLine()
  const pull = { files: { 'note.txt': 'a note\n' }, fork: false }
  const stage = await openStage({ line, script: answerOrFix, files: sampleFiles, limits, pull })
  await stage.serve()
  return {
    ...{ stage, line, runs: 0, cuts: 0, known: new Set<string>() },
    async close() {
      await stage.close()
      await line.close()
    },
  }
}

/** One task of that road, of which one request is cut, and what the oracle says that it had not said before. */
export async function runCut(open: CutStage, road: Road, cut: Cut | null): Promise<CutRow> {
  const { stage, line, known } = open
  open.runs += 1
  line.begin(cut)
  const commentId = await roads[road](stage, open.runs)
  const state = await endOf(stage, commentId)
  await settled(stage)
  const met = line.wasCut()
  if (met) open.cuts += 1
  const evidence = await gatherEvidence(stage, { calmAt: Date.now(), disturbances: open.cuts })
  const found = findFaults(evidence).filter(({ words }) => !known.has(words))
  for (const { words } of found) known.add(words)
  return { road, cut, met, requests: [...line.seen()], faults: [...notAsWithout(state), ...found], evidence }
}

/** A cut may cost time, and nothing else. */
function notAsWithout(state: TaskState | null): Fault[] {
  const end = state?.outcome
  if (end?.outcome === 'succeeded') return []
  return [{ kind: 'lost', words: end ? `it ended as ${end.outcome}: ${end.reason}` : 'it did not end' }]
}

const endWallMs = 60_000

async function endOf({ ledger }: Stage, commentId: number): Promise<TaskState | null> {
  const known = new Set<string>()
  let mine: string | null = null
  for (const until = Date.now() + endWallMs; Date.now() < until; await sleep(20)) {
    for (const { taskId } of mine === null ? await ledger.tasks({ limit: 3 }) : []) {
      if (known.has(taskId)) continue
      known.add(taskId)
      if (commentOfFirst(await ledger.readEvents(taskId, 0, 1)) === commentId) mine = taskId
    }
    if (mine !== null && (await ledger.task(mine))?.state === 'ended') break
  }
  return mine === null ? null : foldTask(await ledger.readEvents(mine))
}

export type PlannedCut = { road: Road; cut: Cut }

/** Every request of these clean runs, in every way. */
export function allCuts(rows: readonly Pick<CutRow, 'road' | 'requests'>[]): PlannedCut[] {
  return rows.flatMap(({ road, requests }) => requests.flatMap(request => cutKinds.map(kind => ({ road, cut: { request, kind } }))))
}

/** So many of them, far apart, and others for another number: the kinds and the roads all have their share. */
export function someCuts(rows: readonly Pick<CutRow, 'road' | 'requests'>[], count: number, rotation: number): PlannedCut[] {
  return Array.from({ length: count }, (_, index) => {
    const { road, requests } = rows[index % rows.length] as CutRow
    const kind = cutKinds[(index + Math.floor(index / rows.length)) % cutKinds.length] as Cut['kind']
    const place = Math.floor((index * requests.length) / count) + rotation
    return { road, cut: { request: requests[place % requests.length] as string, kind } }
  })
}
