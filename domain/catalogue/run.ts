import type { ProblemRow } from './problem.ts'

/** Where nothing better is known. The verb is the one that was asked for. */
const again = '`/grok retry` starts it again from the beginning'
const sayMore = 'say more: `/grok fix <what>`'
const smaller = 'ask for a smaller step: `/grok fix <what>`'
const askOperator = 'ask the operator, who finds the reason in the log of the worker'

/** How an accepted task ended without success. */
export const runProblems = {
  cancelled: {
    what: 'Somebody cancelled the task.',
    why: '`/grok cancel`, `grokbot stop`, a signal, or the key `c` of a run.',
    next: [again],
  },
  superseded: {
    what: 'A newer task of the same thread made this one needless.',
    why: 'It was asked for again, or for a newer commit, before this one had ended.',
    next: ['look at the newer one'],
  },
  'thread-closed': {
    what: 'The issue or pull request was closed while the task waited or ran.',
    why: 'What nobody wants any more is not worked on.',
    next: ['open it again, then `/grok retry`'],
  },
  'switched-off-meanwhile': {
    what: 'The operator switched runs off while the task ran.',
    why: 'The kill switch ends every running task at once; until it is cleared a retry starts nothing.',
    next: ['once the operator has cleared the switch (`grokbot switch clear`): `/grok retry`'],
  },
  'session-stopped': {
    what: 'The session was stopped before it had an end of its own.',
    why: 'The kill switch was pulled in the middle of a step, or could not be read for too long.',
    next: ['once the operator has looked at the switch (`grokbot switch`): `/grok retry`'],
  },
  'session-lost': {
    what: 'The session left no end in the record.',
    why: 'A fault of ours.',
    next: [again, askOperator],
  },
  'time-up': {
    what: 'The time of the task was up.',
    why: 'The step was too large for it, a command or the model was slow, or it waited long for a worker.',
    next: [smaller, 'ask the operator to raise `taskWallMs`'],
  },
  'turns-used': {
    what: 'The session used up its turns before it was done.',
    why: 'The step was too large, or the model went in circles.',
    next: [smaller, 'ask the operator to raise `turnsMax`'],
  },
  'tokens-used': {
    what: 'The session used up its tokens before it was done.',
    why: 'The step was too large, or long files and long outputs were read again and again.',
    next: [smaller, 'ask the operator to raise `tokensMax`'],
  },
  'cost-used': {
    what: 'The session used up its money before it was done.',
    why: 'The step was too large, or the model is expensive for what it does.',
    next: [smaller, 'ask the operator to raise `costMicroUsdMax`'],
  },
  repeating: {
    what: 'The model made the same calls again and again.',
    why: 'It does not see what is in its way, mostly since something that it needs was not said.',
    next: [sayMore, again],
  },
  'model-key': {
    what: 'The model endpoint did not accept the key.',
    why: 'The key is wrong, was taken back, or may not use this model.',
    next: ['once the operator has set another key (`OPENAI_API_KEY`, `XAI_API_KEY`): `/grok retry`'],
  },
  'model-missing': {
    what: 'The model endpoint knows no such model or path.',
    why: '`OPENAI_MODEL` or `OPENAI_BASE_URL` is misspelled.',
    next: ['once the operator has corrected it (`grokbot doctor` tries it): `/grok retry`'],
  },
  'model-credit': {
    what: 'The account at the model endpoint has no credit left.',
    why: 'It was used up, or a limit that was set there is reached.',
    next: ['once the operator has topped it up: `/grok retry`'],
  },
  'model-limiting': {
    what: 'The model endpoint limits requests, and went on doing so.',
    why: 'More tasks run at once than the account may have, or others use it too.',
    next: ['`/grok retry` in a few minutes', 'ask the operator to run fewer at once: `workerSlots`'],
  },
  'model-too-long': {
    what: 'The conversation or an answer became longer than the model or the session takes.',
    why: 'Very long files or outputs were read, or the step was too large.',
    next: [smaller],
  },
  'model-silent': {
    what: 'The model endpoint did not answer, after as many tries as there are.',
    why: 'It is away, it can not be reached from here, or it broke its answers off.',
    next: ['`/grok retry` when it is there again; `grokbot doctor` tries it'],
  },
  'model-broken': {
    what: 'A request to the model failed, and to make it again would not help.',
    why: 'The endpoint is not quite compatible, or a fault of ours.',
    next: [again, askOperator],
  },
  'model-price-unset': {
    what: 'A cost limit is set and the price of the model is not known.',
    why: 'What is not known can not be held to a limit, so nothing was asked of the model.',
    next: ['once the operator has set `models.<name>.price` or taken `costMicroUsdMax` away: `/grok retry`'],
  },
  'model-refused': {
    what: 'The model refused the request.',
    why: "What was asked for, or a file that was read, is something the model's provider does not let it work on.",
    next: [sayMore],
  },
  'no-change': {
    what: 'The session changed no file.',
    why: 'There was nothing to change, or the model did not see what was meant.',
    next: [sayMore],
  },
  'nothing-left': {
    what: 'Of what the session changed nothing may be in the change.',
    why: 'Only protected paths, credentials, or files that a command made were changed.',
    next: [sayMore, 'let new files of commands in: `include` in `.github/grok.yml`'],
  },
  'no-answer': {
    what: 'The model ended without an answer.',
    why: 'Its last words were none, though it was asked a question.',
    next: [again, sayMore],
  },
  'answer-not-posted': {
    what: 'GitHub did not take the answer.',
    why: 'The conversation was locked or removed meanwhile, or the App may not write in it any more.',
    next: ['unlock the conversation, then `/grok retry`', 'read it in the record: `grokbot runs show TASK`'],
  },
  'answer-unknown': {
    what: 'It is not known whether the answer arrived.',
    why: 'The connection broke while it was sent, and what was sent could not be read back.',
    next: ['look whether it is there; if not, `/grok retry`'],
  },
  'nothing-delivered': {
    what: 'The road ended and nothing was delivered.',
    why: 'A fault of ours.',
    next: [again, askOperator],
  },
  'delivery-unknown': {
    what: 'It is not known whether the delivery arrived.',
    why: 'The connection broke while it was sent, and what was sent could not be read back.',
    next: ['look whether it is there; if not, `/grok retry`'],
  },
  'setup-failed': {
    what: 'Setup failed, so the checks prove nothing.',
    why: 'A command of `setup` fails in the sandbox, mostly for a host it may not reach.',
    next: ['correct `setup` in `.github/grok.yml`, then `/grok retry`', 'ask the operator to list the host it needs under `egress.allow`'],
  },
  'checks-missing': {
    what: 'No check is configured and none could be detected, so nothing proves the change.',
    why: 'The repository has no test command that is known here.',
    next: ['name one: `checks` in `.github/grok.yml`, such as `checks: [npm test]`; then `/grok retry`'],
  },
  'checks-fail': {
    what: 'A check fails with the change.',
    why: 'The change is wrong, or not whole; or the check failed before it too.',
    next: [again, sayMore],
  },
  unproven: {
    what: 'The checks pass and do not prove the change.',
    why: 'Only changed tests pass, no test ran, or fewer ran than before; the reasons are named.',
    next: [again, sayMore],
  },
  'commit-gone': {
    what: 'The commit the task was accepted for is not there any more.',
    why: 'The branch was rewritten while the task waited.',
    next: ['ask again for the new one: `/grok fix <what>`'],
  },
  'fetch-failed': {
    what: 'The repository could not be fetched.',
    why: 'The App was removed from it, it was renamed or removed, or its history is damaged.',
    next: ['look whether the App is installed for it, then `/grok retry`', askOperator],
  },
  'github-away': {
    what: 'GitHub did not answer, after as many tries as there are.',
    why: 'GitHub, or the way to it, was away for long.',
    next: ['`/grok retry` when it is there again'],
  },
  'sandbox-refused': {
    what: 'There is no sandbox on this machine, so nothing was run.',
    why: 'The kernel or its settings do not let bubblewrap make one.',
    next: ['once the operator has mended it (`grokbot doctor` says what mends it): `/grok retry`'],
  },
  'profile-narrowed': {
    what: 'There is no sandbox profile any more in which this task may run.',
    why: "The operator's profile was changed after the task was accepted, or is for one tenant only.",
    next: ['ask again: `/grok fix <what>`', 'ask the operator for another: `sandbox.profile`'],
  },
  'attempts-died': {
    what: 'One process after another died at this task, so it is not tried again.',
    why: 'It uses up the memory of the machine, or meets a fault of ours.',
    next: [smaller, askOperator],
  },
  'tree-refused': {
    what: 'What setup left in the work tree can not be recorded.',
    why: 'It holds more, or larger, files than a tree may have.',
    next: ['let setup put them where git ignores them; then `/grok retry`'],
  },
  'task-broken': {
    what: 'Something broke on our side.',
    why: 'A fault of ours, or of what the worker stands on: a full disk, a lost mount.',
    next: [again, askOperator],
  },
} as const satisfies Record<string, ProblemRow>
