import type { TaskState } from '../domain/index.ts'
import { applyEdit, type EffectProposal } from '../effects/index.ts'
import type { TaskEnd } from './decide-end.ts'
import { apply } from './deliver.ts'
import { effectPortsOf, placeOf } from './effect-ports.ts'
import { renderEnded, renderRunning } from './render-progress.ts'
import type { Task } from './task.ts'
import { OwnershipLost } from './task-log.ts'

/**
 * The one comment of a running task. It is created once, as an effect, when the task takes longer than a moment; edited
 * while it runs, at most every `progressGapMs`; and its last text is an effect of its own, done before the outcome is
 * recorded, so that a killed process can not leave it saying "running".
 */
export type ProgressComment = {
  /** What is being done now, in a few words. */
  doing(words: string): void
  /** Stops editing and writes the last text; posts one for a failure that had no comment yet. */
  finish(end: TaskEnd): Promise<void>
  /** No edit is on its way any more when it resolves. */
  stop(): Promise<void>
}

const silent: ProgressComment = { doing: () => undefined, finish: async () => undefined, stop: async () => undefined }

export function startProgressComment(task: Omit<Task, 'comment' | 'probe'>): ProgressComment {
  const { accepted, settings, ports } = task
  if (accepted.delivery !== 'github' || accepted.subject === null || ports.github === null) return silent
  const { progressAfterMs, progressGapMs } = settings.limits
  let words = 'starting'
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let stopped = false
  const state = () => task.log.state()
  const body = () => renderRunning({ state: state(), now: ports.now(), doing: words, prefix: settings.prefix, updateGapMs: progressGapMs })

  async function write() {
    const known = commentOf(state())
    if (known)
      await applyEdit({ ...placeOf(task), number: accepted.subject?.number ?? 0 }, known, task.id, body(), effectPortsOf(task, null))
    else await applyComment(task, body())
  }
  function arm(ms: number) {
    timer = setTimeout(() => {
      writing = write()
        .catch(error => ports.logger.warn({ error, task: task.id }, 'progress comment could not be written'))
        .finally(() => {
          if (!stopped) arm(progressGapMs)
        })
    }, ms)
    timer.unref()
  }
  arm(commentOf(state()) ? progressGapMs : Math.max(0, progressAfterMs - (ports.now() - (state().accepted?.at ?? 0))))
  const stop = async () => {
    stopped = true
    clearTimeout(timer)
    await writing
  }
  return {
    doing: text => {
      words = text
    },
    stop,
    async finish(end) {
      await stop()
      await writeLast(task, end)
    },
  }
}

async function writeLast(task: Omit<Task, 'comment' | 'probe'>, end: TaskEnd): Promise<void> {
  const state = task.log.state()
  const known = commentOf(state)
  const text = renderEnded(state, end, task.ports.now(), task.settings.prefix)
  try {
    if (known) await apply(task, null, { kind: 'progress', ordinal: 2, intent: { ...thread(task), commentId: known, body: text } })
    else if (end.outcome !== 'succeeded') await apply(task, null, { kind: 'comment', ordinal: 1, intent: { ...thread(task), body: text } })
  } catch (error) {
    // The outcome must be recorded even when GitHub is away; the effect then stays open in the ledger.
    if (error instanceof OwnershipLost) throw error
    task.ports.logger.warn({ error, task: task.id }, 'the last text of the progress comment could not be written')
  }
}

function applyComment(task: Omit<Task, 'comment' | 'probe'>, body: string) {
  const proposal: EffectProposal = { kind: 'progress', ordinal: 1, intent: { ...thread(task), commentId: null, body } }
  return apply(task, null, proposal)
}

function thread(task: Omit<Task, 'comment' | 'probe'>) {
  const { accepted } = task
  return { ...placeOf(task), number: accepted.subject?.number ?? 0, since: new Date(task.log.state().accepted?.at ?? 0).toISOString() }
}

/** The id of the comment on GitHub, once it is known to exist. */
function commentOf(state: TaskState): number | null {
  const effect = Object.values(state.effects).find(
    ({ kind, key, state: phase }) => kind === 'progress' && key === 'progress-1' && phase === 'confirmed',
  )
  const id = effect?.remote?.['id']
  return typeof id === 'number' ? id : null
}
