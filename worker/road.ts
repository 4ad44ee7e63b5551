import { findCommand, type TaskAccepted } from '../domain/index.ts'

/** A command that is answered in words: nothing is written, collected, checked or pushed. */
export function isQuestion({ accepted }: { accepted: TaskAccepted }): boolean {
  return findCommand(accepted.command.verb)?.road === 'ask'
}
