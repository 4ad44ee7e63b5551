import type { TaskProgress } from '../../worker/index.ts'
import { openLiveView } from './live-view.ts'
import { openPlainView } from './plain-view.ts'
import type { Detail } from './rows.ts'

/** What a person sees while a run goes on. It draws; it decides nothing. */
export type View = {
  progress(update: TaskProgress): void
  /** A line of ours, above what is redrawn. */
  note(line: string): void
  toggleDetail(): void
  /** Leaves the terminal as it was found. Safe to repeat. */
  close(): void
}

export type ViewHead = {
  /** Shown at once. */
  lines: readonly string[]
  /** Shown as soon as the sandbox was measured. */
  opened(update: Extract<TaskProgress, { kind: 'opened' }>): string
}

export type ViewOptions = {
  stream: NodeJS.WriteStream
  detail: Detail
  startedAt: number
  now(): number
  head: ViewHead
}

/** Narrower terminals get plain lines, which wrap. */
const columnsMin = 60

/** The view for this place: redrawn lines on a terminal a person looks at, else one line an event. */
export function openView(options: ViewOptions & { plain: boolean; ci: boolean; colour: boolean; hints: string }): View {
  const { stream, plain, ci } = options
  const live = stream.isTTY === true && !plain && !ci && (stream.columns ?? 0) >= columnsMin
  return live ? openLiveView(options) : openPlainView(options)
}

export const silentView: View = {
  progress: () => undefined,
  note: () => undefined,
  toggleDetail: () => undefined,
  close: () => undefined,
}
