import type { TaskProgress } from './ports.ts'
import type { Task } from './task.ts'

/** Says what happens now, to the front that shows it and to the progress comment. Never awaited, never fails a task. */
export function report(task: Pick<Task, 'id' | 'ports' | 'comment'>, update: TaskProgress): void {
  const words = wordsOf(update)
  if (words !== null) task.comment.doing(words)
  task.ports.progress(task.id, update)
}

const stageWords = {
  mirror: 'fetching the repository',
  workspace: 'checking the repository out',
  setup: 'running setup',
  session: 'asking the model',
  change: 'collecting the change',
  checks: 'running the checks',
  delivery: 'delivering',
} as const

const toolWords = {
  read: 'reading',
  edit: 'editing',
  write: 'writing',
  list: 'listing',
  search: 'searching for',
  run: 'running',
  plan: 'planning',
  use: 'using',
} as const

function wordsOf(update: TaskProgress): string | null {
  switch (update.kind) {
    case 'stage':
      return stageWords[update.stage]
    case 'check':
      return update.state === 'running' ? `check \`${update.name.replaceAll('`', ' ')}\`` : null
    case 'session':
      return sessionWords(update.update)
    case 'opened':
    case 'ended':
      return null
  }
}

function sessionWords(update: Extract<TaskProgress, { kind: 'session' }>['update']): string | null {
  if (update.kind === 'turn') return stageWords.session
  return update.kind === 'tool-started' ? `${toolWords[update.verb]} \`${update.label.replaceAll('`', ' ')}\`` : null
}
