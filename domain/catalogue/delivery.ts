import type { ProblemRow } from './problem.ts'

const apply = 'apply the patch by hand: `git apply --index`'
const retry = '`/grok retry` makes the change again on the current branch'

/** Why a rung of the delivery ladder does not hold; the change is kept as a patch. */
export const deliveryProblems = {
  'push-workflows': {
    what: 'GitHub refuses changes to `.github/workflows` from the App.',
    why: 'That needs a permission of its own, which the App does not have.',
    next: [apply, 'give the App the permission `workflows`'],
  },
  'push-protected': {
    what: 'The rules of the repository refuse the push.',
    why: 'A ruleset or a protected branch asks for reviews, a linear history or a name that the commit does not have.',
    next: [apply, 'let the rules allow the App to push to `grok/**`'],
  },
  'push-unsigned': {
    what: 'The repository takes signed commits only, and this one could not be made signed.',
    why: 'A ruleset asks for signatures, and the change is more than the API of GitHub makes a commit of.',
    next: [apply, 'ask for a smaller step: `/grok fix <what>`'],
  },
  'push-denied': {
    what: 'The App may not write to the repository.',
    why: 'It lacks the permission contents, or the repository is archived or taken out of the installation.',
    next: [apply, 'give the App the permission contents: write'],
  },
  'push-moved': {
    what: 'Somebody else pushed to the branch while the change was made.',
    why: 'A push goes only onto the commit the change was checked on.',
    next: [retry, apply],
  },
  'push-refused': {
    what: 'GitHub refused the push.',
    why: 'A reason of its own, which it names.',
    next: [apply],
  },
  'push-not-granted': {
    what: 'There is no token that may push to this place.',
    why: 'The App was taken out of the repository, or lacks the permission contents; then nothing was sent.',
    next: [apply, 'look at the installation of the App'],
  },
  'branch-gone': {
    what: 'The branch of the pull request is gone.',
    why: 'Somebody deleted it meanwhile.',
    next: ['restore the branch, then `/grok retry`', apply],
  },
  'pull-request-refused': {
    what: 'The branch was pushed and GitHub opened no pull request.',
    why: 'One from that branch is open already, or the App lacks the permission pull requests.',
    next: ['open it by hand from the branch', apply],
  },
  'closed-meanwhile': {
    what: 'The pull request was closed or merged while the change was made.',
    why: 'Nobody would see what is pushed to it.',
    next: ['open it again, then `/grok retry`', apply],
  },
  'locked-meanwhile': {
    what: 'The conversation was locked while the change was made.',
    why: 'A maintainer wants nothing more to come there.',
    next: ['unlock it, then `/grok retry`', apply],
  },
  'fork-meanwhile': {
    what: 'The head of the pull request lies in a fork now.',
    why: 'Its repository was moved or made anew; grokbot never pushes into a fork.',
    next: [retry, apply],
  },
  'access-gone': {
    what: 'Who asked for it has lost the access that the command needs.',
    why: 'The role was taken away while the task waited or ran; it is looked at again before anything is written.',
    next: ['somebody with access may ask again: `/grok fix`'],
  },
  'archived-meanwhile': {
    what: 'The repository was archived while the change was made.',
    why: 'Nothing can be written to it any more.',
    next: ['take it out of the archive, then `/grok retry`', apply],
  },
  'thread-gone': {
    what: 'The issue or pull request is gone.',
    why: 'It was deleted, or moved to another repository.',
    next: ['ask again where it is now', apply],
  },
  'place-gone': {
    what: 'The repository can not be read any more.',
    why: 'It was deleted, made private or taken out of the installation.',
    next: ['look at the installation of the App', apply],
  },
  'merge-queue': {
    what: 'The pull request is in the merge queue.',
    why: 'A push would take it out.',
    next: ['take it out, then `/grok retry`', apply],
  },
  'moved-again': {
    what: 'The branch was pushed to again and again during the delivery.',
    why: 'A head that moved is followed once, since everything is checked again on the new one.',
    next: [`once nobody pushes: ${retry}`, apply],
  },
  'head-rewritten': {
    what: 'The branch was rewritten during the delivery.',
    why: 'A rebase or a forced push took away the commit the change was made on.',
    next: [retry, apply],
  },
  'newer-conflict': {
    what: 'Newer commits changed the same places.',
    why: 'Somebody worked on the same lines meanwhile.',
    next: [retry, 'merge the patch by hand: `git apply --3way`'],
  },
  'newer-has-it': {
    what: 'Newer commits have all of the change already.',
    why: 'Somebody made the same change meanwhile.',
    next: ['nothing is left to be done'],
  },
  'newer-protected': {
    what: 'On the newer commits the change would touch a protected path.',
    why: 'A link of theirs leads to one.',
    next: ['look at the newer commits, then apply the patch by hand: `git apply --index`'],
  },
  'checks-broken': {
    what: "A check fails with the change, and nothing broken is pushed onto somebody's branch.",
    why: 'The change is wrong, or not whole; or the check failed before it too.',
    next: ['`/grok retry` starts it again from the beginning', 'say more: `/grok fix <what>`'],
  },
  'fork-patch-only': {
    what: 'The head lies in a fork, where grokbot never pushes, and the task may make no review.',
    why: 'The task was accepted by a version that made no suggestions.',
    next: [retry, apply],
  },
  'fork-moved': {
    what: "The fork's branch moved while the change was made, so the suggestions would stand at other lines.",
    why: 'Its author pushed meanwhile.',
    next: [retry, apply],
  },
  'suggestions-not-possible': {
    what: 'The change is more than suggestions on the lines of the pull request can say.',
    why: 'It adds, removes or renames files, or changes lines the pull request does not.',
    next: ['give its author the patch: `git apply --index`'],
  },
  'suggestions-refused': {
    what: 'GitHub did not take the suggestions.',
    why: 'The pull request changed meanwhile, or the App lacks the permission pull requests.',
    next: [retry, apply],
  },
} as const satisfies Record<string, ProblemRow>
