import { join, resolve } from 'node:path'
import { addAccount } from './add-account.ts'
import { install } from './installation.ts'
import { seedRepository } from './seed-repository.ts'
import { type AccountType, findRepository, type GitHubState, type Repository, requireRepository } from './state.ts'

export type NewRepository = {
  owner: string
  name: string
  private?: boolean
  defaultBranch?: string
  /** A folder of files, a work tree, or a bare repository. */
  from?: string
  empty?: boolean
  forkOf?: string
  ownerType?: AccountType
  id?: number
}

/** Makes the repository and, where that is its owner's first, the owner and the App's installation there. */
export async function addRepository(state: GitHubState, folder: string, given: NewRepository): Promise<Repository> {
  const name = `${given.owner}/${given.name}`
  if (findRepository(state, name)) throw new Error(`${name} is there already`)
  const owner = addAccount(state, { login: given.owner, type: given.ownerType ?? 'User' })
  const forkOf = given.forkOf === undefined ? null : requireRepository(state, given.forkOf)
  const path = join(folder, 'repositories', owner.login, `${given.name}.git`)
  const from = given.from === undefined ? forkOf?.folder : resolve(given.from)
  const { defaultBranch } = await seedRepository(path, { from, defaultBranch: given.defaultBranch, empty: given.empty })
  const now = state.now()
  const repository: Repository = {
    id: given.id ?? state.nextId(),
    owner,
    name: given.name,
    private: given.private ?? false,
    description: null,
    defaultBranch,
    archived: false,
    hasIssues: true,
    forkOf,
    folder: path,
    roles: new Map(),
    nextNumber: 1,
    issues: new Map(),
    comments: new Map(),
    reviews: new Map(),
    reviewComments: new Map(),
    labels: new Map(),
    checkRuns: new Map(),
    checkSuites: new Map(),
    protections: new Map(),
    rulesets: [],
    signedCommits: new Map(),
    createdAt: now,
    pushedAt: now,
  }
  state.repositories.set(name.toLowerCase(), repository)
  if (![...state.installations.values()].some(each => each.account.id === owner.id)) install(state, owner)
  return repository
}
