import type { TaskProgress } from '../worker/index.ts'

/** One plain line an event, for logs and places without a terminal. Foreign text passes `printable`. */
export function printProgress(stream: NodeJS.WritableStream): (taskId: string, update: TaskProgress) => void {
  const startedAt = performance.now()
  return (_taskId, update) => {
    const text = lineOf(update)
    if (text === null) return
    const seconds = Math.floor((performance.now() - startedAt) / 1000)
    stream.write(`  ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}  ${text}\n`)
  }
}

function lineOf(update: TaskProgress): string | null {
  switch (update.kind) {
    case 'step':
      return column(update.step, update.detail)
    case 'check':
      return update.state === 'running' ? null : column('check', `${update.name}  ${update.cell}  ${update.state}  ${update.detail}`)
    case 'ended':
      return column(update.outcome, update.reason)
    case 'session':
      return update.update.kind === 'tool-settled' ? column(update.update.verb, `${update.update.label}  ${update.update.detail}`) : null
  }
}

function column(word: string, text: string): string {
  return `${word.padEnd(9)} ${printable(text)}`
}

/** Nothing that a terminal could take for an order: control characters are shown as escapes. */
export function printable(text: string): string {
  return [...text]
    .map(character => (isControl(character) ? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}` : character))
    .join('')
}

function isControl(character: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character)
}
