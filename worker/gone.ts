/**
 * What a task was accepted for is not there any more: a commit that was rewritten away, a thread that was removed. Nothing is
 * broken and nothing helps but asking anew, so its message is said as the reason, and the task fails without being our fault.
 */
export class Gone extends Error {
  override readonly name = 'Gone'
}
