import { duration, money, type TaskState, took } from '../domain/index.ts'
import { makeInert } from '../effects/index.ts'
import { withoutSecrets } from '../telemetry/index.ts'
import type { TaskEnd } from './decide-end.ts'
import type { EffectTask } from './effect-ports.ts'
import { type RunLinks, runLinks } from './run-links.ts'

/** What every text about the end of a task is made from. */
export type EndView = { taskId: string; state: TaskState; end: TaskEnd; now: number; links: RunLinks | null } & EndSettings
export type EndSettings = { prefix: string; bodyCharactersMax: number }

export function viewOf(task: EffectTask, end: TaskEnd): EndView {
  const { prefix, limits } = task.settings
  const state = task.log.state()
  const links = runLinks(task.id, state, task.ports.link)
  return { taskId: task.id, state, end, now: task.ports.now(), links, prefix, bodyCharactersMax: limits.bodyCharactersMax }
}

export function verbWords({ accepted }: TaskState): string {
  return `**grok ${accepted?.command.verb ?? 'run'}**`
}

/** From the first claim on: waiting is nobody's work. */
export function tookWords({ attempts }: TaskState, now: number): string {
  return duration(now - (attempts[0]?.at ?? now))
}

/** `, $0.84`; nothing where nothing is known to have been spent. */
export function costWords({ spent }: TaskState): string {
  return spent.costMicroUsd > 0 ? `, ${money(spent.costMicroUsd)}` : ''
}

/** One line, kept to the end: that a process died is nobody's worry, and nobody's secret. */
export function resumedLines({ attempts }: TaskState): string[] {
  const last = attempts.findLast(attempt => attempt.recovers !== null)
  if (!last) return []
  const elsewhere = attempts.some(({ attempt, owner }) => attempt === last.recovers && owner !== last.owner)
  const after = ` after ${took(last.quietMs)}`
  return [`Resumed${elsewhere ? ' on another worker' : ''} at ${clock(last.at)} UTC${after}; nothing was asked or posted twice.`]
}

export function linksOf({ taint }: TaskState): 'shown' | 'kept' {
  return taint.length > 0 ? 'shown' : 'kept'
}

/**
 * Cut before it is made inert, since a cut through code of the filter's would bring to life what stands in it, and after
 * it was searched for credentials. A stranger may have chosen the words, and with them where a link leads. `behind` is ours,
 * and is read together with it: an open mark of code in the text would take what follows for code.
 */
export function inertStart(text: string, state: TaskState, charactersMax: number, behind = ''): string {
  return makeInert(`${withoutSecrets(text).slice(0, charactersMax)}${behind}`, linksOf(state))
}

export function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 16)
}

/** Foreign text inside a code span of ours. */
export function inCode(text: string): string {
  return text.replace(/[`\r\n]/g, ' ').slice(0, 80)
}
