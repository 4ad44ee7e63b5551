import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { randomText } from './credential.ts'
import { mergePull } from './merge-pull.ts'
import { addComment, deleteComment, editComment, type NewComment, type NewIssue, openIssue, setIssueState } from './open-issue.ts'
import { type NewPull, openPull } from './open-pull.ts'
import { commitFiles, type FileChanges, seedRepository } from './seed-repository.ts'
import {
  type Account,
  type AccountType,
  type Comment,
  findAccount,
  findRepository,
  fullName,
  type GitHubState,
  type Installation,
  type Issue,
  type Permissions,
  type Protection,
  type Repository,
  type Role,
  requireAccount,
  requireIssue,
  requireRepository,
} from './state.ts'
import { syncPulls } from './sync-pulls.ts'

type NewRepository = {
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

/** What people do on GitHub's side: no token is checked, and no webhook is sent by itself. */
export type World = ReturnType<typeof createWorld>

export function createWorld(state: GitHubState, folder: string) {
  return { ...createOwnerActions(state, folder), ...createThreadActions(state), ...createAppActions(state) }
}

/** Accounts, repositories and their settings. */
function createOwnerActions(state: GitHubState, folder: string) {
  return {
    addUser: (given: { login: string; type?: AccountType; id?: number; name?: string }) => addAccount(state, given),
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
    renameRepository: (repo: string, name: string) => {
      const repository = requireRepository(state, repo)
      state.repositories.delete(repo.toLowerCase())
      state.renamed.set(repo.toLowerCase(), repository)
      repository.name = name
      state.repositories.set(fullName(repository).toLowerCase(), repository)
    },
    archive: (repo: string) => {
      requireRepository(state, repo).archived = true
    },
    protectBranch: (repo: string, branch: string, rule: Partial<Protection> = {}) => {
      requireRepository(state, repo).protections.set(branch, {
        requirePullRequest: true,
        allowForcePushes: false,
        requiredChecks: [],
        ...rule,
      })
    },
  }
}

/** What is said and pushed. */
function createThreadActions(state: GitHubState) {
  return {
    openIssue: (given: {
      repo: string
      author: string | null
      title: string
      body?: string | null
      number?: number
      id?: number
    }): Issue => {
      const { repo, author, body = null, ...rest } = given
      const wish: NewIssue = { ...rest, body, author: author === null ? null : requireAccount(state, author) }
      return openIssue(state, requireRepository(state, repo), wish)
    },
    comment: (given: { repo: string; number: number; author: string | null; body: string; id?: number }): Comment => {
      const { repo, number, author, ...rest } = given
      const repository = requireRepository(state, repo)
      const wish: NewComment = { ...rest, author: author === null ? null : requireAccount(state, author) }
      return addComment(state, repository, requireIssue(repository, number), wish)
    },
    editComment: (given: { repo: string; commentId: number; body: string; sender?: string }): void => {
      const { repository, comment } = requireComment(state, given)
      editComment(state, repository, comment, given.body, senderOf(state, given.sender, comment.author))
    },
    deleteComment: (given: { repo: string; commentId: number; sender?: string }): void => {
      const { repository, comment } = requireComment(state, given)
      deleteComment(state, repository, comment, senderOf(state, given.sender, comment.author))
    },
    setIssueState: (given: { repo: string; number: number; state: 'open' | 'closed'; sender?: string }): void => {
      const repository = requireRepository(state, given.repo)
      const issue = requireIssue(repository, given.number)
      setIssueState(state, repository, issue, given.state, senderOf(state, given.sender, issue.author))
    },
    mergePull: async (given: { repo: string; number: number; sender?: string }): Promise<string> => {
      const repository = requireRepository(state, given.repo)
      const issue = requireIssue(repository, given.number)
      return mergePull(state, repository, issue, senderOf(state, given.sender, issue.author))
    },
    lock: (repo: string, number: number) => {
      requireIssue(requireRepository(state, repo), number).locked = true
    },
    openPull: async (given: {
      repo: string
      author: string | null
      title: string
      body?: string | null
      head: string
      base?: string
      draft?: boolean
      number?: number
    }): Promise<Issue> => {
      const { repo, author, body = null, draft = false, ...rest } = given
      const repository = requireRepository(state, repo)
      const wish: NewPull = {
        base: repository.defaultBranch,
        ...rest,
        body,
        draft,
        author: author === null ? null : requireAccount(state, author),
      }
      const opened = await openPull(state, repository, wish)
      if (opened.kind === 'refused') throw new Error(`the pull request is refused: ${JSON.stringify(opened.errors)}`)
      return opened.issue
    },
    /** Adds a commit to a branch as somebody who pushed it would; answers its SHA. */
    commit: async (given: {
      repo: string
      branch: string
      files: FileChanges
      message?: string
      from?: string
      author?: string
    }): Promise<string> => {
      const repository = requireRepository(state, given.repo)
      const sha = await commitFiles(repository.folder, { message: 'A change', ...given })
      await syncPulls(state, repository, given.author === undefined ? null : requireAccount(state, given.author))
      return sha
    },
  }
}

/** The App's installations, and tokens. */
function createAppActions(state: GitHubState) {
  return {
    installation: (owner: string): Installation => requireInstallation(state, owner),
    setInstallation: (owner: string, change: { permissions?: Permissions; repositories?: string[] | null; suspended?: boolean }) => {
      const installation = requireInstallation(state, owner)
      if (change.permissions) installation.permissions = change.permissions
      if (change.suspended !== undefined) installation.suspendedAt = change.suspended ? state.now() : null
      if (change.repositories === null) installation.selection = null
      if (change.repositories) installation.selection = new Set(change.repositories.map(name => requireRepository(state, name).id))
    },
    uninstall: (owner: string) => {
      const installation = requireInstallation(state, owner)
      state.installations.delete(installation.id)
      for (const [value, token] of state.tokens)
        if (token.kind === 'installation' && token.installation.id === installation.id) state.tokens.delete(value)
    },
    /** A person's token, for what a person would do with git or the API. */
    userToken: (login: string): string => {
      const value = `ghp_${randomText(36)}`
      state.tokens.set(value, { kind: 'user', actor: requireAccount(state, login), expiresAt: Number.POSITIVE_INFINITY })
      return value
    },
    /** Makes every installation token handed out so far worthless, as time would. */
    expireTokens: () => {
      for (const token of state.tokens.values()) if (token.kind === 'installation') token.expiresAt = 0
    },
  }
}

export function addAccount(state: GitHubState, given: { login: string; type?: AccountType; id?: number; name?: string }): Account {
  const present = findAccount(state, given.login)
  if (present) return present
  const account: Account = {
    id: given.id ?? state.nextId(),
    login: given.login,
    type: given.type ?? 'User',
    name: given.name ?? null,
    siteAdmin: false,
  }
  state.accounts.set(account.login.toLowerCase(), account)
  return account
}

async function addRepository(state: GitHubState, folder: string, given: NewRepository): Promise<Repository> {
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
    labels: new Map(),
    checkRuns: new Map(),
    protections: new Map(),
    createdAt: now,
    pushedAt: now,
  }
  state.repositories.set(name.toLowerCase(), repository)
  if (![...state.installations.values()].some(each => each.account.id === owner.id)) install(state, owner)
  return repository
}

export function install(state: GitHubState, account: Account, id: number = state.nextId()): Installation {
  const { permissions, events } = state.app
  const installation: Installation = {
    id,
    account,
    permissions: { ...permissions },
    events,
    selection: null,
    suspendedAt: null,
    createdAt: state.now(),
  }
  state.installations.set(id, installation)
  return installation
}

function requireInstallation(state: GitHubState, owner: string): Installation {
  const installation = [...state.installations.values()].find(each => each.account.login.toLowerCase() === owner.toLowerCase())
  if (!installation) throw new Error(`the App is not installed on ${owner}`)
  return installation
}

function requireComment(state: GitHubState, given: { repo: string; commentId: number }): { repository: Repository; comment: Comment } {
  const repository = requireRepository(state, given.repo)
  const comment = repository.comments.get(given.commentId)
  if (!comment) throw new Error(`${given.repo} has no comment ${given.commentId}`)
  return { repository, comment }
}

function senderOf(state: GitHubState, login: string | undefined, otherwise: Account | null): Account | null {
  return login === undefined ? otherwise : requireAccount(state, login)
}
