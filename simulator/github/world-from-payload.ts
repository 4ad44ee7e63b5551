import { z } from 'zod'
import type { FakeGitHub } from './fake-github.ts'
import { type AccountType, findAccount, findRepository, type Role } from './state.ts'
import { addAccount, install } from './world.ts'

const Account = z.object({
  id: z.int(),
  login: z.string().min(1),
  type: z.enum(['User', 'Bot', 'Organization', 'Mannequin']).catch('User'),
})

/** The parts of a webhook that say who and what exists; everything else of it is left as it is. */
const Payload = z.object({
  repository: z
    .object({ id: z.int(), name: z.string().min(1), owner: Account, private: z.boolean().catch(false), archived: z.boolean().catch(false) })
    .optional(),
  issue: z
    .object({
      id: z.int(),
      number: z.int().positive(),
      title: z.string(),
      body: z.string().nullable().catch(null),
      user: Account.nullable(),
      state: z.enum(['open', 'closed']).catch('open'),
      locked: z.boolean().catch(false),
      pull_request: z.unknown().optional(),
    })
    .optional(),
  comment: z.object({ id: z.int(), body: z.string().nullable(), user: Account.nullable() }).optional(),
  sender: Account.optional(),
  installation: z.object({ id: z.int() }).optional(),
})
type Payload = z.infer<typeof Payload>

export type PayloadWorldOptions = {
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
export async function worldFromPayload(github: FakeGitHub, recorded: object, options: PayloadWorldOptions): Promise<PayloadWorld> {
  const parsed = Payload.safeParse(recorded)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { kind: 'unusable', path: issue?.path.join('.') ?? '', message: issue?.message ?? 'is not a webhook' }
  }
  const payload = parsed.data
  for (const account of [payload.repository?.owner, payload.issue?.user, payload.comment?.user, payload.sender]) {
    if (account) addAccount(github.state, account)
  }
  if (!payload.repository) return { kind: 'made', payload: recorded, notes: [] }
  const installationId = await makeRepository(github, payload, payload.repository, options)
  const notes = await makeThread(github, payload, `${payload.repository.owner.login}/${payload.repository.name}`)
  if (payload.installation) return { kind: 'made', payload: recorded, notes }
  // What GitHub sends to an App always names the installation; what was recorded by a repository's own hook does not.
  return {
    kind: 'made',
    payload: { ...recorded, installation: { id: installationId, node_id: '' } },
    notes: [...notes, 'the payload names no installation; one was added'],
  }
}

async function makeRepository(
  github: FakeGitHub,
  payload: Payload,
  given: NonNullable<Payload['repository']>,
  { from, role }: PayloadWorldOptions,
): Promise<number> {
  const owner = addAccount(github.state, given.owner)
  const installation = install(github.state, owner, payload.installation?.id)
  await github.addRepository({
    owner: owner.login,
    ownerType: given.owner.type as AccountType,
    name: given.name,
    id: given.id,
    private: given.private,
    from,
  })
  const repo = `${owner.login}/${given.name}`
  const actor = payload.comment?.user ?? payload.sender
  if (actor) github.setPermission(repo, actor.login, role)
  if (given.archived) github.archive(repo)
  return installation.id
}

async function makeThread(github: FakeGitHub, { issue, comment }: Payload, repo: string): Promise<string[]> {
  if (!issue) return []
  const author = issue.user?.login ?? null
  const { number, id, title, body } = issue
  if (issue.pull_request) await makePull(github, repo, { number, title, body, author })
  else github.openIssue({ repo, author, title, body, number, id })
  if (issue.locked) github.lock(repo, number)
  if (issue.state === 'closed') github.setIssueState({ repo, number, state: 'closed' })
  if (comment) {
    const login = comment.user && findAccount(github.state, comment.user.login) ? comment.user.login : null
    github.comment({ repo, number, author: login, body: comment.body ?? '', id: comment.id })
  }
  return issue.pull_request ? ['the pull request was made with a branch of its own: a comment does not name its head'] : []
}

type PullWish = { number: number; title: string; body: string | null; author: string | null }

async function makePull(github: FakeGitHub, repo: string, { number, ...rest }: PullWish): Promise<void> {
  const head = `simulated-${number}`
  const base = findRepository(github.state, repo)?.defaultBranch ?? 'main'
  await github.commit({
    repo,
    branch: head,
    from: `refs/heads/${base}`,
    files: { [`simulated-${number}.txt`]: 'a change\n' },
    message: rest.title || 'A change',
  })
  await github.openPull({ repo, number, head, base, ...rest })
}
