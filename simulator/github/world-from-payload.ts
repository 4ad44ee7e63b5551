import * as z from 'zod'
import { addAccount } from './add-account.ts'
import type { FakeGitHub } from './fake-github.ts'
import { install } from './installation.ts'
import { makePayloadPull } from './payload-pull.ts'
import { type Account, type GitHubState, type Issue, type Repository, type Role, requireRepository } from './state.ts'

const PayloadAccount = z.object({
  id: z.int(),
  login: z.string().min(1),
  type: z.enum(['User', 'Bot', 'Organization', 'Mannequin']).catch('User'),
})

const Thread = z.object({
  id: z.int(),
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullable().catch(null),
  user: PayloadAccount.nullable(),
  state: z.enum(['open', 'closed']).catch('open'),
  locked: z.boolean().catch(false),
})

const Head = z.object({
  ref: z.string(),
  sha: z.string(),
  user: PayloadAccount.nullish(),
  repo: z.object({ name: z.string(), owner: PayloadAccount }).nullish(),
})

/** The parts of a webhook that say who and what exists; everything else of it is left as it is. */
const Payload = z.object({
  repository: z
    .object({
      id: z.int(),
      name: z.string().min(1),
      owner: PayloadAccount,
      private: z.boolean().catch(false),
      archived: z.boolean().catch(false),
      default_branch: z.string().optional(),
    })
    .optional(),
  issue: Thread.extend({ pull_request: z.unknown().optional() }).optional(),
  pull_request: Thread.extend({ head: Head, base: z.object({ ref: z.string() }), draft: z.boolean().catch(false) }).optional(),
  comment: z
    .object({ id: z.int(), body: z.string().nullable(), user: PayloadAccount.nullable(), pull_request_review_id: z.unknown().optional() })
    .optional(),
  sender: PayloadAccount.optional(),
  installation: z.object({ id: z.int() }).optional(),
})
type Payload = z.infer<typeof Payload>
export type PayloadThread = z.infer<typeof Thread>
export type PayloadPull = NonNullable<Payload['pull_request']>

type PayloadWorldOptions = {
  /** A folder of files, a work tree, or a bare repository: what the payload's repository holds. */
  from: string
  /** The role the comment's author, or else the sender, has there. */
  role: Role
}

export type PayloadWorld =
  | { kind: 'made'; payload: object; notes: string[] }
  /** The payload names something in a way no webhook does. `path` is where. */
  | { kind: 'unusable'; path: string; message: string }

/**
 * Makes everything a recorded webhook speaks of: repository, accounts, issue or pull request, comment, the App's
 * installation, with the payload's own ids and numbers, so that what is read back from the API fits what it says.
 */
export async function worldFromPayload(github: FakeGitHub, recorded: unknown, options: PayloadWorldOptions): Promise<PayloadWorld> {
  const parsed = Payload.safeParse(recorded)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { kind: 'unusable', path: issue?.path.join('.') ?? '', message: issue?.message ?? 'is not a webhook' }
  }
  const payload = parsed.data
  // What is delivered is what was recorded: reading it has left out the parts that are not looked at.
  const whole = recorded as object
  if (payload.sender) addAccount(github.state, payload.sender)
  if (!payload.repository) return { kind: 'made', payload: whole, notes: [] }
  const { repository, installationId } = await makeRepository(github, payload, payload.repository, options)
  const notes = await makeThread(github, payload, repository)
  if (payload.installation) return { kind: 'made', payload: whole, notes }
  // What GitHub sends to an App always names the installation; what was recorded by a repository's own hook does not.
  return {
    kind: 'made',
    payload: { ...whole, installation: { id: installationId, node_id: '' } },
    notes: [...notes, 'the payload names no installation; one was added'],
  }
}

async function makeRepository(
  github: FakeGitHub,
  payload: Payload,
  given: NonNullable<Payload['repository']>,
  { from, role }: PayloadWorldOptions,
): Promise<{ repository: Repository; installationId: number }> {
  const owner = addAccount(github.state, given.owner)
  const installation = install(github.state, owner, payload.installation?.id)
  const { name, id, private: isPrivate, default_branch: branch } = given
  const defaultBranch = branch === undefined ? {} : { defaultBranch: branch }
  await github.addRepository({ owner: owner.login, name, id, private: isPrivate, from, ...defaultBranch })
  const repo = `${owner.login}/${name}`
  const actor = payload.comment?.user ?? payload.sender
  if (actor) github.setPermission(repo, addAccount(github.state, actor).login, role)
  if (given.archived) github.archive(repo)
  return { repository: requireRepository(github.state, repo), installationId: installation.id }
}

async function makeThread(github: FakeGitHub, payload: Payload, repository: Repository): Promise<string[]> {
  const { issue: given, pull_request: pull, comment } = payload
  const thread = pull ?? given
  if (!thread) return []
  const { state } = github
  const notes: string[] = []
  const author = accountOf(state, thread.user)
  const isPull = pull !== undefined || given?.pull_request !== undefined
  const repo = `${repository.owner.login}/${repository.name}`
  const { number, id, title, body } = thread
  const issue: Issue = isPull
    ? await makePayloadPull(github, repository, { thread, pull, author }, notes)
    : github.openIssue({ repo, author: author?.login ?? null, title, body, number, id })
  issue.id = id
  issue.locked = thread.locked
  if (thread.state === 'closed') Object.assign(issue, { state: 'closed', closedAt: state.now() })
  // A comment on a diff is another kind of thing than one on the thread.
  if (comment && comment.pull_request_review_id === undefined) {
    github.comment({ repo, number, author: accountOf(state, comment.user)?.login ?? null, body: comment.body ?? '', id: comment.id })
  }
  return notes
}

export function accountOf(state: GitHubState, user: z.infer<typeof PayloadAccount> | null | undefined): Account | null {
  return user ? addAccount(state, user) : null
}
