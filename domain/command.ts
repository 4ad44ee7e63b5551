import { narrowestProfile, type ProfileName } from '../config-schema/index.ts'
import type { EffectKind, Grant, TaskAccepted } from './event.ts'

/**
 * The command table: parsing, help, documentation and authorisation are made from it. A verb enters with its issue; help
 * never lists what does not work.
 */
export type CommandRow = {
  verb: string
  aliases: readonly string[]
  /** Where it may stand. */
  where: readonly ('issue' | 'pull')[]
  /** The role the actor needs in the repository. */
  needs: 'read' | 'triage' | 'write' | 'maintain'
  /**
   * What happens: a change, an answer (both by a worker), a reply of the app itself, an order to other tasks, or the last
   * command of the thread once more.
   */
  road: 'fix' | 'ask' | 'reply' | 'cancel' | 'retry'
  profile: string
  capabilities: readonly ('read' | 'write' | 'run')[]
  effects: readonly EffectKind[]
  help: string
}

export const commandTable = [
  {
    verb: 'fix',
    aliases: [],
    where: ['issue', 'pull'],
    needs: 'write',
    road: 'fix',
    profile: 'workspace',
    capabilities: ['read', 'write', 'run'],
    effects: ['reaction', 'progress', 'comment', 'reply', 'check-run', 'push', 'pull-request', 'review'],
    help: 'changes the code and runs the checks: on an issue it opens a pull request, on a pull request it adds a commit',
  },
  {
    verb: 'ask',
    aliases: [],
    where: ['issue', 'pull'],
    needs: 'triage',
    road: 'ask',
    profile: 'review',
    capabilities: ['read', 'run'],
    effects: ['reaction', 'comment', 'reply'],
    help: 'answers a question about the code; changes nothing',
  },
  {
    verb: 'status',
    aliases: [],
    where: ['issue', 'pull'],
    needs: 'read',
    road: 'reply',
    profile: 'strict',
    capabilities: [],
    effects: ['reaction', 'comment', 'reply'],
    help: 'says what runs, waits and ended here',
  },
  {
    verb: 'cancel',
    aliases: ['stop'],
    where: ['issue', 'pull'],
    needs: 'write',
    road: 'cancel',
    profile: 'strict',
    capabilities: [],
    effects: ['reaction', 'comment', 'reply'],
    help: 'stops every run of this issue or pull request; work so far is kept',
  },
  {
    verb: 'retry',
    aliases: [],
    where: ['issue', 'pull'],
    needs: 'triage',
    road: 'retry',
    profile: 'strict',
    capabilities: [],
    effects: [],
    help: 'runs the last command here that did not succeed again, from the start',
  },
  {
    verb: 'help',
    aliases: [],
    where: ['issue', 'pull'],
    needs: 'read',
    road: 'reply',
    profile: 'strict',
    capabilities: [],
    effects: ['reaction', 'comment', 'reply'],
    help: 'lists the commands',
  },
] as const satisfies readonly CommandRow[]

/** The buttons of our check runs: the identifier GitHub sends back, and the command a click on it gives. */
export const checkRunButtons = [
  { identifier: 'retry', label: 'Re-run', description: 'Gives the command once more', verb: 'retry' },
] as const

export type Verb = (typeof commandTable)[number]['verb']

/** What the profile depends on: `trusted` = nothing the task will read was written by somebody without write access. */
export type ProfileFacts = { operatorProfile: string | null; trusted: boolean }

/** Whether a worker does it; what it does not do is a reply or an order of the app itself. */
export function needsWorker({ road }: CommandRow): boolean {
  return road === 'fix' || road === 'ask'
}

/**
 * What the commands of a task may have: the operator's profile, or the command's own when the operator has set none; where
 * a stranger's text is read, no more than `strict`. Null when no profile is within both, as of `strict` and `read-only`, or
 * when the name is no profile of this version: then the task is refused. A command that runs nothing keeps its own.
 */
export function profileOf(row: CommandRow, { operatorProfile, trusted }: ProfileFacts): ProfileName | null {
  const wanted = row.road === 'fix' ? (operatorProfile ?? row.profile) : row.profile
  return narrowestProfile(trusted || row.road !== 'fix' ? [wanted] : [wanted, 'strict'])
}

/**
 * What a task is accepted with. Throws where there is no profile: acceptance has refused that. `fork`: of its pull request
 * the base repository never becomes a branch, so nothing of the task may push there.
 */
export function grantOf(row: CommandRow, facts: ProfileFacts & { delivery: TaskAccepted['delivery']; fork: boolean }): Grant {
  const profile = profileOf(row, facts)
  if (profile === null) throw new Error(`${row.verb} was accepted without a profile`)
  return {
    profile,
    capabilities: [...row.capabilities],
    effects: facts.delivery === 'github' ? row.effects.filter(kind => !facts.fork || (kind !== 'push' && kind !== 'pull-request')) : [],
  }
}

export function findCommand(word: string): CommandRow | null {
  const lower = word.toLowerCase()
  return commandTable.find(row => row.verb === lower || (row.aliases as readonly string[]).includes(lower)) ?? null
}
