import { rm } from 'node:fs/promises'
import { addAccount, type NewAccount } from '../add-account.ts'
import { addRepository, type NewRepository } from '../add-repository.ts'
import {
  findAccount,
  fullName,
  type GitHubState,
  type Protection,
  type Repository,
  type Role,
  type Ruleset,
  requireAccount,
  requireRepository,
} from '../state.ts'

/** Accounts, repositories and their settings. */
export function createOwnerActions(state: GitHubState, folder: string) {
  return {
    addUser: (given: NewAccount) => addAccount(state, given),
    addRepository: (given: NewRepository) => addRepository(state, folder, given),
    removeRepository: async (repo: string) => {
      const repository = requireRepository(state, repo)
      state.repositories.delete(repo.toLowerCase())
      for (const each of state.repositories.values()) {
        for (const { pull } of each.issues.values()) if (pull?.head.repository?.id === repository.id) pull.head.repository = null
      }
      await rm(repository.folder, { recursive: true, force: true })
    },
    setPermission: (repo: string, login: string, role: Role, roleName: string = role) => {
      const account = findAccount(state, login) ?? addAccount(state, { login })
      requireRepository(state, repo).roles.set(account.login.toLowerCase(), { role, roleName })
    },
    /** The old name goes on as a redirect, as on GitHub; git follows it there too. */
    renameRepository: (repo: string, name: string) => moveRepository(state, repo, { name }),
    /** To another owner; the old name redirects here too, to whoever may see the repository there. */
    transferRepository: (repo: string, owner: string) => moveRepository(state, repo, { owner: addAccount(state, { login: owner }) }),
    archive: (repo: string) => {
      requireRepository(state, repo).archived = true
    },
    disableIssues: (repo: string) => {
      requireRepository(state, repo).hasIssues = false
    },
    /** Takes all writing in the owner's repositories from somebody. */
    block: (owner: string, login: string) => {
      const { id } = requireAccount(state, owner)
      const blocked = state.blocked.get(id) ?? new Set()
      state.blocked.set(id, blocked.add(requireAccount(state, login).id))
    },
    protectBranch: (repo: string, branch: string, rule: Partial<Protection> = {}) => {
      requireRepository(state, repo).protections.set(branch, {
        requirePullRequest: true,
        allowForcePushes: false,
        requireSignatures: false,
        requiredChecks: [],
        ...rule,
      })
    },
    addRuleset: (repo: string, given: Pick<Ruleset, 'branches' | 'rules'> & { name?: string }) => {
      const { name = 'rules', ...rest } = given
      requireRepository(state, repo).rulesets.push({ id: state.nextId(), name, ...rest })
    },
  }
}

function moveRepository(state: GitHubState, repo: string, to: Partial<Pick<Repository, 'name' | 'owner'>>): void {
  const repository = requireRepository(state, repo)
  state.repositories.delete(repo.toLowerCase())
  state.renamed.set(repo.toLowerCase(), repository)
  Object.assign(repository, to)
  state.repositories.set(fullName(repository).toLowerCase(), repository)
}
