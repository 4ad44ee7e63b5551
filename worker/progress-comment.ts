import { setTimeout as sleep } from 'node:timers/promises'
import type { TaskState } from '../domain/index.ts'
import { applyEdit, type EffectProposal, effectId, preparedEvent, settleByReadBack, sleepUnlessStopped } from '../effects/index.ts'
import { apply } from './apply.ts'
import type { TaskEnd } from './decide-end.ts'
import { type EffectTask, effectPortsOf } from './effect-ports.ts'
import { showRunning } from './finish-check-run.ts'
import { commentOf, lastWords, progressId, threadOf } from './last-words.ts'
import { workerLimits } from './limits.ts'
import { orLeave } from './or-leave.ts'
import { renderHandedBack, renderRunning } from './render-progress.ts'
import { isQuestion } from './road.ts'
import { runLinks } from './run-links.ts'
import { stopOf } from './stopped.ts'
import { OwnershipLost } from './task-log.ts'
import { viewOf } from './words-of-end.ts'

/**
 * The one comment of a running task. It is created once, as an effect, when the task takes longer than a moment; edited
 * while it runs, at most every `progressGapMs`; and its last text is an effect of its own, done before the outcome is
 * recorded, so that a killed process can not leave it saying "running".
 */
export type ProgressComment = {
  /** What is being done now, in a few words. */
  doing(words: string): void
  /** What comes after it, '' = nothing worth a line. */
  next(words: string): void
  /** Stops editing and writes the last text; posts one for a failure that had no comment yet. */
  finish(end: TaskEnd): Promise<'done' | 'left'>
  /** Says that this worker goes and another one goes on; at most `handBackWordsMs`, and only where there is a comment already. */
  handBack(): Promise<void>
  /** No edit is on its way any more when it resolves: at most the one request that was sent is waited for. */
  stop(): Promise<void>
}

const silent: ProgressComment = {
  doing: () => undefined,
  next: () => undefined,
  finish: async () => 'done',
  handBack: async () => undefined,
  stop: async () => undefined,
}

export function startProgressComment(task: EffectTask): ProgressComment {
  const { accepted, settings, ports } = task
  if (accepted.delivery !== 'github' || accepted.subject === null || ports.github === null) return silent
  // Whoever asked a question is told once: the answer, or why there is none.
  if (isQuestion(task)) return { ...silent, finish: end => writeLast(task, end) }
  const { progressAfterMs, progressGapMs } = settings.limits
  // What waits for GitHub is left at once when the task is over: its last text would wait behind it.
  const leaving = new AbortController()
  const leavable = { ...task, stop: AbortSignal.any([task.stop, leaving.signal]) }
  let words = 'starting'
  let nextWords = ''
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let stopped = false
  let isShown = false
  const state = () => task.log.state()
  const view = () => {
    const links = runLinks(task.id, state(), ports.link)
    return { state: state(), now: ports.now(), doing: words, next: nextWords, prefix: settings.prefix, links, updateGapMs: progressGapMs }
  }

  async function showCheckRun() {
    try {
      isShown = (await showRunning(leavable)) === 'shown'
    } catch (error) {
      isShown = true
      ports.logger.warn({ error, task: task.id }, 'a check run still says queued')
    }
  }
  async function write() {
    if (hasLastText(state())) return
    if (!isShown) await showCheckRun()
    // The app is still making it, for a task that had to wait.
    if (isOnItsWay(await task.log.refresh())) return
    const known = commentOf(state())
    const thread = threadOf(state())
    if (known) await applyEdit(thread, known, task.id, renderRunning(view()), effectPortsOf(leavable, null))
    else await apply(leavable, null, { kind: 'progress', ordinal: 1, intent: { ...thread, commentId: null, body: renderRunning(view()) } })
  }
  function arm(ms: number) {
    timer = setTimeout(() => {
      writing = write()
        .catch(error => {
          if (!leavable.stop.aborted) ports.logger.warn({ error, task: task.id }, 'progress comment could not be written')
        })
        .finally(() => {
          if (!stopped) arm(progressGapMs)
        })
    }, ms)
    timer.unref()
  }
  // One that says "queued" is edited at once.
  const isRunningSaid = commentOf(state()) !== null && state().attempts.length > 1
  arm(isRunningSaid ? progressGapMs : commentOf(state()) ? 0 : Math.max(0, progressAfterMs - (ports.now() - (state().accepted?.at ?? 0))))
  const stop = async () => {
    stopped = true
    clearTimeout(timer)
    leaving.abort()
    await writing
  }
  return {
    doing: text => {
      words = text
    },
    next: text => {
      nextWords = text
    },
    stop,
    async handBack() {
      await stop()
      const known = commentOf(state())
      if (known === null || hasLastText(state())) return
      // The task's own stop is over by now, and its turn to write may still have to be waited for.
      const late = { ...task, stop: AbortSignal.timeout(workerLimits.handBackWordsMs) }
      const said = applyEdit(threadOf(state()), known, task.id, renderHandedBack(view()), effectPortsOf(late, null)).catch(error =>
        ports.logger.warn({ error, task: task.id }, 'a comment does not say that its task was handed back'),
      )
      await Promise.race([said, sleep(workerLimits.handBackWordsMs, undefined, { ref: false })])
    },
    async finish(end) {
      await stop()
      return await writeLast(task, end)
    },
  }
}

/** An attempt before this one died after its last words: they are said once, so nothing may be written over them. */
function hasLastText({ effects }: TaskState): boolean {
  return Object.values(effects).some(({ kind, key, state }) => kind === 'progress' && key !== 'progress-1' && state !== 'rejected')
}

/** Looked at twice: a thread of a review that is gone by now leaves the conversation. */
async function writeLast(task: EffectTask, end: TaskEnd): Promise<'done' | 'left'> {
  let said = await orLeave(task, () => settleFirst(task))
  if (said === 'left') return 'left'
  const isNew = (proposal: EffectProposal) => task.log.state().effects[effectId(task.id, proposal)] === undefined
  for (let look = 1; look <= 2; look++) {
    const words = lastWords(viewOf(task, end))
    for (const proposal of look === 1 ? words : words.filter(isNew)) {
      // Waiting out one outage is enough: what is prepared is found by the sweep.
      if (said === 'done') said = await orLeave(task, () => apply(task, null, proposal))
      else if (isNew(proposal)) await task.log.record(preparedEvent(task.id, proposal))
    }
  }
  return said
}

/** A comment that may or may not be there decides which last words are right, so that is found out first. */
async function settleFirst(task: EffectTask): Promise<void> {
  const id = progressId(task.id)
  const { queuedWaitMs, checkRunLookMs } = workerLimits
  for (let waited = 0; isOnItsWay(await task.log.refresh()); waited += checkRunLookMs) {
    // What the app makes after that it edits itself: it looks again whether the task has ended.
    if (waited >= queuedWaitMs || (await sleepUnlessStopped(checkRunLookMs, task.stop)) === 'stopped') return
  }
  const known = task.log.state().effects[id]
  if (known?.state !== 'prepared' && known?.state !== 'dispatched') return
  const settled = await settleByReadBack(task.id, id, known, 'its task has ended', effectPortsOf(task, null))
  if (settled.kind === 'fenced') throw new OwnershipLost(`task ${task.id}: ownership was lost before its last words`)
  if (settled.kind === 'stopped') throw stopOf(task)
}

/** The app's own, which nobody else may settle. */
function isOnItsWay({ effects }: TaskState): boolean {
  return Object.values(effects).some(
    ({ kind, key, attempt, state }) =>
      kind === 'progress' && key === 'progress-1' && attempt === 0 && (state === 'prepared' || state === 'dispatched'),
  )
}
