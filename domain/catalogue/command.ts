import type { Acceptance } from '../acceptance.ts'
import type { ProblemRow } from './problem.ts'

type CommandCode = Exclude<Acceptance, { kind: 'accepted' }>['reason']

/** Why a comment starts nothing. The first ones are answered with a sentence, the last four with silence. */
export const commandProblems = {
  'unknown-command': {
    what: 'There is no such command.',
    why: 'The word behind the prefix is misspelled, or is no command at all.',
    next: ['see what there is: `/grok help`'],
  },
  role: {
    what: 'Who asked may not do that here.',
    why: 'Each command needs a role at the repository, which is asked of GitHub and never read from the comment.',
    next: ['ask a maintainer to give the command'],
  },
  'wrong-place': {
    what: 'The command does not work here.',
    why: 'Some commands are for issues only, some for pull requests only.',
    next: ['see where it works: `/grok help`'],
  },
  'nothing-to-retry': {
    what: 'No run of this thread has failed, so there is nothing to retry.',
    why: 'The last one succeeded, or there was none.',
    next: ['give the command itself: `/grok fix <what>`'],
  },
  archived: {
    what: 'The repository is archived.',
    why: 'GitHub takes no change of an archived repository.',
    next: ['unarchive it, in its settings at GitHub'],
  },
  locked: {
    what: 'The conversation is locked.',
    why: 'A maintainer wants nothing more to be said there, and that counts for grokbot too.',
    next: ['unlock the conversation', 'ask in an issue of its own'],
  },
  closed: {
    what: 'The pull request is closed.',
    why: 'What is pushed to a closed pull request is seen by nobody.',
    next: ['open it again', 'ask in an issue of its own'],
  },
  'empty-repository': {
    what: 'The default branch has no commit yet.',
    why: 'There is nothing to check out.',
    next: ['push a first commit'],
  },
  'switched-off': {
    what: 'The operator has switched runs off.',
    why: 'The kill switch is pulled: no run starts, whoever asks.',
    next: ['the operator switches runs on again: `grokbot switch clear`'],
  },
  budget: {
    what: 'The money for today is used, or what is left of it is less than a run may need.',
    why: 'A repository and a person each have a budget for a day; it is empty again at 00:00 UTC.',
    next: ['ask again after 00:00 UTC', 'the operator sets `repositoryDayMicroUsdMax`, `actorDayMicroUsdMax` or `costMicroUsdMax`'],
  },
  'no-profile': {
    what: 'There is no sandbox profile in which this may run.',
    why: "Text or code of somebody without write access needs `strict`, which the operator's profile is not within; or that one is unknown.",
    next: ['the operator sets `sandbox.profile` to one that `grokbot config show` names'],
  },
  'own-comment': {
    what: 'The comment is one of grokbot itself.',
    why: 'What it writes never starts work.',
    next: ['give the command in a comment of your own'],
  },
  bot: {
    what: 'The comment is one of another bot.',
    why: 'Bots start work only where the operator names them.',
    next: ['the operator lists its id under `bots`'],
  },
  'bot-loop': {
    what: 'Bots have started as many runs in this thread as an hour allows.',
    why: 'Two bots that answer each other would go on without end.',
    next: ['wait an hour, or give the command as a person'],
  },
  'owner-not-allowed': {
    what: 'The repository belongs to an owner that this installation does not serve.',
    why: 'Anybody can install a public App; only the owners in `ALLOWED_OWNERS` may spend money with it.',
    next: ['the operator adds the owner to `ALLOWED_OWNERS`'],
  },
} as const satisfies Record<CommandCode, ProblemRow>
