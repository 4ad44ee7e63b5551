import type { NewEvent } from '../domain/index.ts'
import { openPrompts } from '../prompts/index.ts'
import { type Budget, openBudget } from './budget.ts'
import { openChat } from './chat.ts'
import type { SessionContext } from './context.ts'
import { type FoldedSession, foldSession } from './fold-session.ts'
import { emptyGateTables } from './gate/rows.ts'
import { openJournal } from './journal.ts'
import { sessionLimits } from './limits.ts'
import { loadSampler } from './model/load-sampler.ts'
import type { SessionPorts } from './ports.ts'
import { openProgress } from './progress.ts'
import { type FirstPrompts, makeFirstPrompts } from './prompt.ts'
import type { SessionStart } from './session.ts'
import { noSnapshots, openSnapshots } from './snapshots.ts'
import { openStop } from './stop.ts'
import { openTaints } from './taints.ts'
import { openFamily } from './tools/families.ts'
import { toolKinds } from './tools/kinds.ts'
import type { Tool } from './tools/tool.ts'
import { openFrames } from './untrusted.ts'

/** Puts the parts of a session together. Nothing is asked, run or recorded yet; the caller closes `stop` and `sampler`. */
export async function openSession(start: SessionStart, ports: SessionPorts): Promise<SessionContext> {
  const limits = { ...sessionLimits, ...start.tuning }
  const folded = foldSession(start.recorded)
  const prompts = openPrompts(start.promptsFolder)
  const tools = offered(openFamily(start.family, prompts), start)
  const first = folded.started ? null : await makeFirstPrompts(start, tools, prompts, limits)
  const texts = folded.started?.payload ?? (first as FirstPrompts)
  const deadlineAt = Math.min(start.deadlineAt, (folded.started?.at ?? ports.now()) + start.limits.wallMs)
  const stop = openStop(ports.cancel, deadlineAt, ports.now)
  const journal = openJournal(ports.record, stop)
  const progress = openProgress(ports.progress)
  const taints = openTaints(folded.taints)
  return {
    ports,
    limits,
    grant: start.grant,
    tables: { ...emptyGateTables, ...start.gate },
    repositoryTrusted: start.trust.repository === 'trusted',
    deadlineAt,
    tools,
    frames: openFrames(start.taskId),
    folded,
    stop,
    journal,
    chat: openChat(requestHead(start, folded.started?.payload.model ?? start.model.name, tools), texts.systemPrompt, texts.userPrompt),
    sampler: (await loadSampler()).openSampler({ endpoint: ports.model, limits, random: ports.random }),
    budget: openRecordedBudget(start, folded),
    // Where nothing can be written there is nothing to come back to.
    snapshots: start.purpose === 'answer' ? noSnapshots : openSnapshots(ports.snapshot, journal, folded.snapshots.length, progress),
    taints,
    todos: new Map(),
    callIds: new Set(),
    progress,
    async begin() {
      if (!first) return true
      const events = firstEvents(start, tools, first, taints.raise)
      if (!(await journal.append(...events))) return false
      for (const event of events) if (event.type === 'taint.raised') progress({ kind: 'taint', ...event.payload })
      return true
    },
  }
}

/** For an answer only the tools it may use: one that would be refused each time is not shown. */
function offered(family: ReadonlyMap<string, Tool>, { purpose, grant }: SessionStart): Map<string, Tool> {
  const isGranted = ({ kind }: Tool) => toolKinds[kind].needs.every(need => grant.capabilities.includes(need))
  return new Map([...family].filter(([, tool]) => purpose === 'change' || isGranted(tool)))
}

/** The budget as the record leaves it: what was answered, what failed, and what was lost on the way. */
function openRecordedBudget(start: SessionStart, folded: FoldedSession): Budget {
  const budget = openBudget(start.limits, start.model)
  for (const turn of folded.turns.values()) {
    for (const lost of turn.openRequests) budget.bookLost(lost.reservedTokens)
    for (const row of [turn.answer, turn.failure]) if (row) budget.book(row.usage, row.usage.reported)
  }
  return budget
}

/** What every request begins with, always in these bytes: parameters and tools first, so that only messages are added. */
function requestHead(start: SessionStart, model: string, tools: ReadonlyMap<string, Tool>): object {
  const { outputTokensField, outputTokensMax, temperature } = start.model
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    [outputTokensField]: outputTokensMax,
    ...(temperature === null ? {} : { temperature }),
    tools: [...tools.values()].map(tool => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: tool.parameters },
    })),
  }
}

function firstEvents(
  start: SessionStart,
  tools: ReadonlyMap<string, Tool>,
  first: FirstPrompts,
  raise: (source: string, detail: string) => NewEvent | null,
): NewEvent[] {
  const { systemPrompt, userPrompt, promptHash } = first
  const payload = { model: start.model.name, systemPrompt, userPrompt, tools: [...tools.keys()], promptHash }
  const taints = first.taints.flatMap(taint => raise(taint.source, taint.detail) ?? [])
  return [{ type: 'session.started', commandId: 'session:start', payload }, ...taints]
}
