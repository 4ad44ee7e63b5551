import { narrowestProfile } from '../config-schema/index.ts'
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

/** What a task is accepted with: `trusted` = nothing it will read was written by somebody without write access. */
export type GrantFacts = { operatorProfile: string | null; delivery: TaskAccepted['delivery']; trusted: boolean }

/** A profile that the operator has set stands for the command's own; where a stranger's text is read it is `strict` at most. */
export function grantOf(row: CommandRow, { operatorProfile, delivery, trusted }: GrantFacts): Grant {
  const profile = operatorProfile ?? row.profile
  return {
    profile: trusted ? profile : (narrowestProfile([profile, 'strict']) ?? profile),
    capabilities: [...row.capabilities],
    effects: delivery === 'github' ? [...row.effects] : [],
  }
}

export function findCommand(word: string): CommandRow | null {
  const lower = word.toLowerCase()
  return commandTable.find(row => row.verb === lower || (row.aliases as readonly string[]).includes(lower)) ?? null
}
