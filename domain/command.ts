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
  /** What happens: a task of its own road, a reply, or an order to other tasks. */
  road: 'fix' | 'reply' | 'cancel'
  profile: string
  capabilities: readonly ('read' | 'write' | 'run')[]
  effects: readonly EffectKind[]
  help: string
}

export const commandTable = [
  {
    verb: 'fix',
    aliases: [],
    where: ['issue'],
    needs: 'write',
    road: 'fix',
    profile: 'workspace',
    capabilities: ['read', 'write', 'run'],
    effects: ['reaction', 'progress', 'comment', 'push', 'pull-request'],
    help: 'changes the code so that this issue is solved, runs the checks and opens a pull request',
  },
  {
    verb: 'cancel',
    aliases: ['stop'],
    where: ['issue', 'pull'],
    needs: 'write',
    road: 'cancel',
    profile: 'strict',
    capabilities: [],
    effects: ['reaction', 'comment'],
    help: 'stops every run of this issue or pull request; work so far is kept',
  },
  {
    verb: 'help',
    aliases: [],
    where: ['issue', 'pull'],
    needs: 'read',
    road: 'reply',
    profile: 'strict',
    capabilities: [],
    effects: ['reaction', 'comment'],
    help: 'lists the commands',
  },
] as const satisfies readonly CommandRow[]

export type Verb = (typeof commandTable)[number]['verb']

/** What the profile depends on: `trusted` = nothing the task will read was written by somebody without write access. */
export type ProfileFacts = { operatorProfile: string | null; trusted: boolean }

/**
 * What the commands of a task may have: the operator's profile, or the command's own when the operator has set none; where
 * a stranger's text is read, no more than `strict`. Null when no profile is within both, as of `strict` and `read-only`, or
 * when the name is no profile of this version: then the task is refused. A command that runs nothing keeps its own.
 */
export function profileOf(row: CommandRow, { operatorProfile, trusted }: ProfileFacts): ProfileName | null {
  const wanted = row.road === 'fix' ? (operatorProfile ?? row.profile) : row.profile
  return narrowestProfile(trusted || row.road !== 'fix' ? [wanted] : [wanted, 'strict'])
}

/** What a task is accepted with. Throws where there is no profile: acceptance has refused that. */
export function grantOf(row: CommandRow, facts: ProfileFacts & { delivery: TaskAccepted['delivery'] }): Grant {
  const profile = profileOf(row, facts)
  if (profile === null) throw new Error(`${row.verb} was accepted without a profile`)
  return {
    profile,
    capabilities: [...row.capabilities],
    effects: facts.delivery === 'github' ? [...row.effects] : [],
  }
}

export function findCommand(word: string): CommandRow | null {
  const lower = word.toLowerCase()
  return commandTable.find(row => row.verb === lower || (row.aliases as readonly string[]).includes(lower)) ?? null
}
