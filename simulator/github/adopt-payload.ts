import { z } from 'zod'
import { addComment, openIssue } from './open-issue.ts'
import { openPull } from './open-pull.ts'
import { git, readRef, resolveCommit } from './repository-git.ts'
import { commitFiles } from './seed-repository.ts'
import { type Account, type Comment, fullName, type GitHubState, type Issue, type Repository, type Role } from './state.ts'
import { addAccount, addRepository, install } from './world.ts'

const User = z.object({ login: z.string(), id: z.int(), type: z.enum(['User', 'Bot', 'Organization', 'Mannequin']).default('User') })
const Text = z.string().nullish()
const Thread = z.object({
  number: z.int(),
  id: z.int(),
  title: z.string(),
  body: Text,
  user: User.nullish(),
  state: z.enum(['open', 'closed']).default('open'),
  locked: z.boolean().default(false),
})
const Side = z.object({
  ref: z.string(),
  sha: z.string(),
  user: User.nullish(),
  repo: z.object({ name: z.string(), owner: User }).nullish(),
})

/** The parts of a webhook's body that say what must exist on GitHub for it to make sense. */
const WebhookBody = z.object({
  installation: z.object({ id: z.int() }).nullish(),
  repository: z.object({
    id: z.int(),
    name: z.string(),
    owner: User,
    private: z.boolean().default(false),
    default_branch: z.string().optional(),
  }),
  sender: User,
  issue: Thread.extend({ pull_request: z.unknown().optional() }).optional(),
  pull_request: Thread.extend({ head: Side, base: z.object({ ref: z.string() }), draft: z.boolean().default(false) }).optional(),
  comment: z.object({ id: z.int(), body: z.string(), user: User.nullish(), pull_request_review_id: z.unknown().optional() }).optional(),
})
type WebhookBody = z.infer<typeof WebhookBody>

export type Adopted = { repository: Repository; issue: Issue | null; comment: Comment | null }

/**
 * Makes the fake the GitHub that would have sent this webhook: the same ids, numbers and texts, with the repository taken
 * from `from`. Commits named in the payload are used when the repository has them; otherwise a branch is made up.
 * Throws a ZodError for a body that is no webhook about a repository.
 */
export async function adoptPayload(
  state: GitHubState,
  folder: string,
  payload: unknown,
  options: { from?: string; permission?: Role },
): Promise<Adopted> {
  const body = WebhookBody.parse(payload)
  const owner = addAccount(state, body.repository.owner)
  if (body.installation && !state.installations.has(body.installation.id)) install(state, owner, body.installation.id)
  const { id, name, private: isPrivate, default_branch: defaultBranch } = body.repository
  const from = options.from === undefined ? {} : { from: options.from }
  const repository = await addRepository(state, folder, {
    owner: owner.login,
    name,
    id,
    private: isPrivate,
    ...(defaultBranch ? { defaultBranch } : {}),
    ...from,
  })
  const sender = addAccount(state, body.sender)
  if (options.permission) repository.roles.set(sender.login.toLowerCase(), { role: options.permission, roleName: options.permission })
  const issue = await adoptThread(state, folder, repository, body)
  if (!issue || !body.comment || body.comment.pull_request_review_id !== undefined) return { repository, issue, comment: null }
  const comment = addComment(state, repository, issue, {
    id: body.comment.id,
    body: body.comment.body,
    author: accountOf(state, body.comment.user),
  })
  return { repository, issue, comment }
}

function accountOf(state: GitHubState, user: z.infer<typeof User> | null | undefined): Account | null {
  return user ? addAccount(state, user) : null
}

async function adoptThread(state: GitHubState, folder: string, repository: Repository, body: WebhookBody): Promise<Issue | null> {
  const thread = body.pull_request ?? body.issue
  if (!thread) return null
  const author = accountOf(state, thread.user)
  const isPull = body.pull_request !== undefined || body.issue?.pull_request !== undefined
  const issue = isPull
    ? await adoptPull(state, folder, repository, body, thread, author)
    : openIssue(state, repository, { number: thread.number, id: thread.id, title: thread.title, body: thread.body ?? null, author })
  issue.locked = thread.locked
  if (thread.state === 'closed') Object.assign(issue, { state: 'closed', closedAt: state.now() })
  return issue
}

async function adoptPull(
  state: GitHubState,
  folder: string,
  repository: Repository,
  { pull_request: given }: WebhookBody,
  thread: z.infer<typeof Thread>,
  author: Account | null,
): Promise<Issue> {
  const { head, deleted } = await headRepository(state, folder, repository, given?.head)
  const ref = given?.head.ref ?? `pull-${thread.number}`
  const base = given?.base.ref ?? repository.defaultBranch
  await makeBranch(head, ref, given?.head.sha, `refs/heads/${repository.defaultBranch}`)
  if (!(await readRef(repository.folder, `refs/heads/${base}`))) await git(repository.folder, ['branch', base, repository.defaultBranch])
  const label = head === repository ? ref : `${head.owner.login}:${ref}`
  const draft = given?.draft ?? false
  const opened = await openPull(state, repository, {
    number: thread.number,
    title: thread.title,
    body: thread.body ?? null,
    author,
    head: label,
    base,
    draft,
  })
  if (opened.kind === 'refused') throw new Error(`the payload's pull request can not be opened: ${JSON.stringify(opened.errors)}`)
  const { issue } = opened
  issue.id = thread.id
  if (issue.pull && given) issue.pull.id = given.id
  if (issue.pull && deleted) {
    issue.pull.head.repository = null
    issue.pull.head.owner = accountOf(state, given?.head.user) ?? head.owner
    state.repositories.delete(fullName(head).toLowerCase())
  }
  return issue
}

/**
 * The repository itself, or the fork the payload names. A deleted fork is made under a name of its own, for as long as its
 * objects are needed: its owner may be the base repository's.
 */
async function headRepository(
  state: GitHubState,
  folder: string,
  repository: Repository,
  side: z.infer<typeof Side> | undefined,
): Promise<{ head: Repository; deleted: boolean }> {
  if (!side) return { head: repository, deleted: false }
  const forkOf = fullName(repository)
  if (!side.repo)
    return { head: await addRepository(state, folder, { owner: 'deleted-fork', name: repository.name, forkOf }), deleted: true }
  const { owner, name } = side.repo
  if (owner.login === repository.owner.login && name === repository.name) return { head: repository, deleted: false }
  addAccount(state, owner)
  return { head: await addRepository(state, folder, { owner: owner.login, name, forkOf }), deleted: false }
}

async function makeBranch(repository: Repository, ref: string, sha: string | undefined, startAt: string): Promise<void> {
  if (await readRef(repository.folder, `refs/heads/${ref}`)) return
  const known = sha === undefined ? null : await resolveCommit(repository.folder, sha)
  if (known) {
    await git(repository.folder, ['update-ref', `refs/heads/${ref}`, known])
    return
  }
  const from = await resolveCommit(repository.folder, startAt)
  await commitFiles(repository.folder, { branch: ref, files: {}, message: 'A change', ...(from ? { from } : {}) })
}
