import type { Change } from './change.ts'

/** Everything the fake GitHub knows, apart from git objects and refs: those live in the bare repositories on disk. */
export type GitHubState = {
  readonly app: App
  readonly accounts: Map<string, Account>
  readonly repositories: Map<string, Repository>
  readonly installations: Map<number, Installation>
  readonly tokens: Map<string, Token>
  readonly deliveries: Delivery[]
  readonly requests: RequestRecord[]
  /** Requests counted against an actor's hour; the key 0 is for everybody without a token. */
  readonly usage: Map<number, { since: number; used: number }>
  /** Ids of accounts that an owner, by its id, has blocked. */
  readonly blocked: Map<number, Set<number>>
  /** Former names of renamed repositories. */
  readonly renamed: Map<string, Repository>
  /** Lists do not show what was written in the last so many milliseconds, as GitHub's replicas sometimes do. */
  readLagMs: number
  /** Told of each change GitHub would send a webhook for. */
  emit(change: Change): void
  /** Where the App listens; null when nothing is sent by itself. */
  webhookUrl: string | null
  /** Deliveries that are under way. */
  readonly sending: Set<Promise<unknown>>
  now(): number
  nextId(): number
}

export type App = {
  id: number
  slug: string
  name: string
  clientId: string
  owner: Account
  publicKey: string
  webhookSecret: string
  permissions: Permissions
  events: string[]
  createdAt: number
}

export type AccountType = 'User' | 'Bot' | 'Organization' | 'Mannequin'
export type Account = { id: number; login: string; type: AccountType; name: string | null; siteAdmin: boolean }

export const roles = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const
export type Role = (typeof roles)[number]

export type Level = 'read' | 'write' | 'admin'
export type Permissions = Record<string, Level>

export type Installation = {
  id: number
  account: Account
  permissions: Permissions
  events: string[]
  /** Repository ids, or null for all of the account's. */
  selection: Set<number> | null
  suspendedAt: number | null
  createdAt: number
}

export type Token =
  | {
      kind: 'installation'
      installation: Installation
      permissions: Permissions
      /** Ids it was narrowed to; null for all of the installation's. */
      repositoryIds: Set<number> | null
      expiresAt: number
      actor: Account
      /** What its maker said it was for, `<task>/<attempt>`; null: nothing. */
      attempt: string | null
    }
  | { kind: 'user'; actor: Account; expiresAt: number }

export type Repository = {
  id: number
  owner: Account
  name: string
  private: boolean
  description: string | null
  defaultBranch: string
  archived: boolean
  hasIssues: boolean
  forkOf: Repository | null
  /** The bare repository on disk. */
  folder: string
  roles: Map<string, { role: Role; roleName: string }>
  nextNumber: number
  issues: Map<number, Issue>
  comments: Map<number, Comment>
  reviews: Map<number, Review>
  reviewComments: Map<number, ReviewComment>
  labels: Map<string, Label>
  checkRuns: Map<number, CheckRun>
  /** Ids of the App's check suites, one for each commit it made check runs on. */
  checkSuites: Map<string, number>
  protections: Map<string, Protection>
  rulesets: Ruleset[]
  /** Commits GitHub signed itself, and when: those an App made through the API. */
  signedCommits: Map<string, number>
  createdAt: number
  pushedAt: number
}

export type Protection = {
  requirePullRequest: boolean
  allowForcePushes: boolean
  requireSignatures: boolean
  requiredChecks: string[]
}

export const rulesetRules = ['creation', 'deletion', 'non_fast_forward', 'pull_request', 'required_signatures'] as const
export type Ruleset = {
  id: number
  name: string
  /** Names of branches in full, or with `*` for any part of one. */
  branches: string[]
  rules: (typeof rulesetRules)[number][]
}

export type Label = { id: number; name: string; color: string; description: string | null }

/** An issue, or a pull request when `pull` is set: both share the numbers of their repository, as on GitHub. */
export type Issue = {
  id: number
  number: number
  title: string
  body: string | null
  author: Account | null
  byApp: boolean
  state: 'open' | 'closed'
  stateReason: 'completed' | 'not_planned' | 'duplicate' | 'reopened' | null
  locked: boolean
  labels: string[]
  assignees: Account[]
  reactions: Reaction[]
  createdAt: number
  updatedAt: number
  closedAt: number | null
  closedBy: Account | null
  pull: Pull | null
}

export type Pull = {
  id: number
  head: { repository: Repository | null; owner: Account; ref: string; sha: string }
  base: { ref: string; sha: string }
  draft: boolean
  merged: boolean
  mergedAt: number | null
  mergedBy: Account | null
  mergeCommitSha: string | null
  maintainerCanModify: boolean
  requestedReviewers: Account[]
  /** Issues of this repository that merging closes, read from `closes #n` in the body. */
  closes: number[]
  mergeQueueEntry: MergeQueueEntry | null
}

export const mergeQueueStates = ['QUEUED', 'AWAITING_CHECKS', 'MERGEABLE', 'UNMERGEABLE', 'LOCKED'] as const
export type MergeQueueEntry = { id: number; position: number; state: (typeof mergeQueueStates)[number] }

export type Comment = {
  id: number
  issueNumber: number
  author: Account | null
  byApp: boolean
  /** Oldest first; the last is the present text. */
  versions: { at: number; body: string }[]
  reactions: Reaction[]
  createdAt: number
}

export type ReviewState = 'PENDING' | 'COMMENTED' | 'APPROVED' | 'CHANGES_REQUESTED' | 'DISMISSED'

export type Review = {
  id: number
  issueNumber: number
  author: Account | null
  byApp: boolean
  body: string
  state: ReviewState
  commitSha: string
  reactions: Reaction[]
  createdAt: number
  /** Null while it is pending; then only its author sees it and its comments. */
  submittedAt: number | null
}

export type Side = 'LEFT' | 'RIGHT'
/** Where in a diff: `line` and `startLine` are of their sides' files, `position` counts lines below the file's first hunk head. */
export type Place = { line: number; side: Side; startLine: number | null; startSide: Side | null; position: number }

export type ReviewComment = {
  id: number
  issueNumber: number
  reviewId: number
  /** The comment that began the thread; null for that one itself. */
  inReplyTo: number | null
  author: Account | null
  byApp: boolean
  body: string
  path: string
  subject: 'line' | 'file'
  diffHunk: string
  originalCommitSha: string
  original: Place
  /** Where the line is in the newest diff of the pull request; null when it is not there any more: the thread is outdated. */
  place: Place | null
  commitSha: string
  /** Kept at the first comment of a thread. */
  resolvedBy: Account | null
  reactions: Reaction[]
  createdAt: number
  updatedAt: number
}

export const reactionContents = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'] as const
export type ReactionContent = (typeof reactionContents)[number]
export type Reaction = { id: number; content: ReactionContent; actor: Account; createdAt: number }

type Annotation = {
  path: string
  start_line: number
  end_line: number
  start_column: number | null
  end_column: number | null
  annotation_level: 'notice' | 'warning' | 'failure'
  message: string
  title: string | null
  raw_details: string | null
}

export type CheckRun = {
  id: number
  name: string
  headSha: string
  externalId: string
  detailsUrl: string | null
  status: 'queued' | 'in_progress' | 'completed' | 'waiting' | 'requested' | 'pending'
  conclusion: string | null
  startedAt: number
  completedAt: number | null
  output: { title: string | null; summary: string | null; text: string | null; annotations: Annotation[] }
  actions: { label: string; description: string; identifier: string }[]
  createdAt: number
}

export type Delivery = {
  id: number
  guid: string
  event: string
  action: string | null
  url: string
  body: Buffer
  deliveredAt: number
  durationMs: number
  redelivery: boolean
  installationId: number | null
  repositoryId: number | null
  requestHeaders: Record<string, string>
  /** 0 when nobody answered in time. */
  statusCode: number
  status: string
  responseBody: string
}

/** One request as the fake saw it: what assertions about tokens, permissions and order are made on. */
export type RequestRecord = {
  at: number
  method: string
  /** Path and query as sent. */
  url: string
  /** The route's row, such as `POST /repos/{owner}/{repo}/pulls`; null when there is none. */
  route: string | null
  auth: AuthRecord
  /** `<task>/<attempt>`: whose token it came with, as far as its maker said so. */
  attempt: string | null
  body: unknown
  status: number | null
  fault: string | null
  durationMs: number | null
  connection: number
}

export type AuthRecord =
  | { kind: 'none' }
  | { kind: 'bad'; reason: string }
  | { kind: 'app' }
  | { kind: 'user'; login: string }
  | { kind: 'installation'; installationId: number; permissions: Permissions; repositories: string[] | null }

export function fullName(repository: Repository): string {
  return `${repository.owner.login}/${repository.name}`
}

export function findRepository(state: GitHubState, name: string): Repository | undefined {
  return state.repositories.get(name.toLowerCase())
}

export function findAccount(state: GitHubState, login: string): Account | undefined {
  return state.accounts.get(login.toLowerCase())
}

/** A bug in a test or a demo, not something GitHub would answer. */
export function requireRepository(state: GitHubState, name: string): Repository {
  const repository = findRepository(state, name)
  if (!repository) throw new Error(`the fake GitHub has no repository ${name}`)
  return repository
}

export function requireAccount(state: GitHubState, login: string): Account {
  const account = findAccount(state, login)
  if (!account) throw new Error(`the fake GitHub has no account ${login}`)
  return account
}

export function requireIssue(repository: Repository, number: number): Issue {
  const issue = repository.issues.get(number)
  if (!issue) throw new Error(`${fullName(repository)} has no issue or pull request ${number}`)
  return issue
}

export function requirePull(issue: Issue): Pull {
  if (!issue.pull) throw new Error(`number ${issue.number} is no pull request`)
  return issue.pull
}

/** What a list shows: nothing that is younger than the read lag. */
export function isListed(state: GitHubState, createdAt: number): boolean {
  return createdAt <= state.now() - state.readLagMs || state.readLagMs === 0
}
