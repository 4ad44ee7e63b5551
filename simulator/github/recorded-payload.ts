import * as z from 'zod'

/** What GitHub lets an account and a repository be called; both become folders here. */
const Login = z.string().regex(/^[\w-]{1,100}(?:\[bot\])?$/, 'is no name of an account')
const RepositoryName = z.string().regex(/^(?!\.{1,2}$)[\w.-]{1,100}$/, 'is no name of a repository')
/** The rules of `git check-ref-format`, but for a few that only matter to a remote. */
const RefName = z
  .string()
  .regex(/^(?![-/.])(?!.*(?:\.\.|\/[/.]|@\{|\.lock(?:\/|$)|[/.]$))[^\0-\x20\x7f~^:?*[\\]{1,250}$/, 'is no name of a branch')

const RecordedAccount = z.object({
  id: z.int(),
  login: Login,
  type: z.enum(['User', 'Bot', 'Organization', 'Mannequin']).catch('User'),
})

const Thread = z.object({
  id: z.int(),
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullable().catch(null),
  user: RecordedAccount.nullable(),
  state: z.enum(['open', 'closed']).catch('open'),
  locked: z.boolean().catch(false),
})

const Head = z.object({
  ref: RefName,
  sha: z.string(),
  user: RecordedAccount.nullish(),
  repo: z.object({ name: RepositoryName, owner: RecordedAccount }).nullish(),
})

const Pull = Thread.extend({
  head: Head,
  base: z.object({ ref: RefName, sha: z.string().optional() }),
  draft: z.boolean().catch(false),
  merged: z.boolean().catch(false),
})

const side = z.enum(['LEFT', 'RIGHT']).nullish().catch(null)
const line = z.int().nullish().catch(null)

/** Of the conversation, or of a diff: then it has a path. */
const Comment = z.object({
  id: z.int(),
  body: z.string().nullable(),
  user: RecordedAccount.nullable(),
  pull_request_review_id: z.int().nullish().catch(null),
  in_reply_to_id: z.int().nullish().catch(null),
  path: z.string().optional(),
  diff_hunk: z.string().catch(''),
  line,
  original_line: line,
  start_line: line,
  original_start_line: line,
  side,
  start_side: side,
  position: line,
  original_position: line,
  subject_type: z.enum(['line', 'file']).catch('line'),
})

const Review = z.object({
  id: z.int(),
  body: z.string().nullish(),
  user: RecordedAccount.nullable(),
  state: z.string().catch('commented'),
})

const CheckRun = z.object({
  id: z.int(),
  name: z.string(),
  head_sha: z.string(),
  external_id: z.string().nullish(),
  details_url: z.string().nullish(),
  status: z.enum(['queued', 'in_progress', 'completed', 'waiting', 'requested', 'pending']).catch('queued'),
  conclusion: z.string().nullish(),
  output: z.object({ title: z.string().nullish(), summary: z.string().nullish(), text: z.string().nullish() }).catch({}),
  check_suite: z.object({ id: z.int().optional(), head_branch: z.string().nullish() }).nullish(),
  pull_requests: z
    .array(z.object({ id: z.int(), number: z.int(), head: Head.pick({ ref: true, sha: true }), base: z.object({ ref: z.string() }) }))
    .catch([]),
})

/** The parts of a webhook that say who and what exists; everything else of it is left as it is. */
export const Recorded = z.object({
  action: z.string().optional(),
  before: z.string().optional(),
  repository: z
    .object({
      id: z.int(),
      name: RepositoryName,
      owner: RecordedAccount,
      private: z.boolean().catch(false),
      archived: z.boolean().catch(false),
      has_issues: z.boolean().catch(true),
      default_branch: RefName.optional(),
    })
    .optional(),
  issue: Thread.extend({ pull_request: z.unknown().optional() }).optional(),
  pull_request: Pull.optional(),
  comment: Comment.optional(),
  review: Review.optional(),
  check_run: CheckRun.optional(),
  requested_action: z.object({ identifier: z.string() }).optional(),
  sender: RecordedAccount.nullish(),
  installation: z.object({ id: z.int() }).nullish(),
})
export type Recorded = z.infer<typeof Recorded>
export type RecordedThread = z.infer<typeof Thread>
export type RecordedPull = z.infer<typeof Pull>
export type RecordedComment = z.infer<typeof Comment>
export type RecordedReview = z.infer<typeof Review>
export type RecordedCheckRun = z.infer<typeof CheckRun>

/** What was made differently from what was recorded: words for people, and SHAs to be put in place of the recorded ones. */
export type Differences = { notes: string[]; shas: Map<string, string> }

/** The payload with every value that is exactly one of these SHAs replaced. */
export function withShas<T>(value: T, shas: ReadonlyMap<string, string>): T {
  if (typeof value === 'string') return (shas.get(value) ?? value) as T
  if (Array.isArray(value)) return value.map(each => withShas(each, shas)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withShas(each, shas)])) as T
}
