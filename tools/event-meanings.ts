import type { EventType } from '../domain/index.ts'

/** For docs/events.md; a new event without a row here does not compile. */
export const eventMeanings: Readonly<Record<EventType, string>> = {
  'task.accepted': 'a command was accepted: who asked, where, the text it is about, its grant, limits and deadline',
  'task.refused': 'a command was refused, with the reason and the sentence that was said; nothing follows but its reply',
  'attempt.started': 'a worker took the task; which attempt it goes on from, if any',
  'cancel.requested': 'somebody asked it to end: a person, the operator, a closed thread, a newer command',
  'workspace.opened': 'the repository was checked out: which commit, in which sandbox',
  'setup.settled': 'the setup commands ended: exit code, output, hosts that were reached',
  'taint.raised': 'the session read something of people without write access; from here on less is allowed',
  'session.started': 'the model’s prompts and tools, as they were sent',
  'model.requested': 'a request to the model is about to be sent; the tokens set aside for it',
  'model.answered': 'the model’s answer, recorded before anything of it is done, with its usage',
  'model.failed': 'the model gave no answer; why, after how many tries',
  'tool.started': 'a tool call is about to be done, with the decision that allows it',
  'tool.settled': 'how a tool call ended, recorded before the model sees it: what it was shown, exit code, sandbox, files written',
  'snapshot.taken': 'the work tree as a git tree, which a resumed run starts from',
  'session.ended': 'why the session ended, and the model’s last words',
  'change.collected': 'the change that came out: tree, files, what was left out and why',
  'check.settled': 'one check on one of the four cells: exit code, counts, output, sandbox',
  'change.judged': 'what the checks prove, and why not more',
  'commit.made': 'the commit that is delivered',
  'effect.prepared': 'something is to be done on GitHub: what, and the key it is found again by',
  'effect.dispatched': 'it is about to be sent',
  'effect.settled': 'what became of it: confirmed, rejected or unknown, and where it is',
  'task.ended': 'the one outcome of the task, with its reason',
}
