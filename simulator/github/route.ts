import type * as z from 'zod'
import type { Answer } from './answer.ts'
import type { Links } from './links.ts'
import type { Account, CheckRun, Comment, GitHubState, Issue, Level, Pull, Repository, Review, ReviewComment, Token } from './state.ts'

/**
 * One row of the fake's route table. The server matches it, checks the token, finds what the path names, checks the
 * permission, checks the body against the schema, and only then calls `apply`.
 */
export type Route = {
  method: Method
  path: string
  permission: Need
  schema: z.ZodType | null
  // The row's own types are erased here; `route` below is the only maker and keeps them together.
  apply(call: Call<string>, body: never): Answer | Promise<Answer>
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * `public`: anybody. `app`: the App's JWT. `authenticated`: any token. A list: one of these installation permissions;
 * `issue or pull` below picks by what the number is.
 */
export type Need = 'public' | 'app' | 'authenticated' | 'installation' | { anyOf: [name: string, level: Level][] } | { thread: Level }

export type Call<Path extends string> = {
  state: GitHubState
  links: Links
  params: { [K in ParameterOf<Path>]: string }
  query: URLSearchParams
  accept: string
  /** What a caller says it acts for, in a header GitHub does not read; null: it says nothing. */
  attempt: string | null
  /** The API URL without query, for Link headers. */
  url: string
  token: Token | null
  /** Who acts: the App's bot for an installation token. Null for the App's JWT and for nobody. */
  actor: Account | null
} & TargetsOf<ParameterOf<Path>> &
  CommentOf<Path>

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Bare<Name> | ParameterOf<Rest> : never
type Bare<Name extends string> = Name extends `${infer Word}+` ? Word : Name

/** What the server found for the parameters of these names; a route is not called when one is missing. */
type TargetsOf<Names extends string> = ('repo' extends Names ? { repository: Repository } : unknown) &
  ('issue_number' extends Names ? { issue: Issue } : unknown) &
  ('pull_number' extends Names ? { issue: Issue; pull: Pull } : unknown) &
  ('review_id' extends Names ? { review: Review } : unknown) &
  ('check_run_id' extends Names ? { checkRun: CheckRun } : unknown)

/** Below `pulls` a comment is one on a diff. */
type CommentOf<Path extends string> =
  'comment_id' extends ParameterOf<Path>
    ? Path extends `${string}/pulls/${string}`
      ? { reviewComment: ReviewComment; issue: Issue; pull: Pull }
      : { comment: Comment; issue: Issue }
    : unknown

export function route<const Path extends string, Schema extends z.ZodType | null = null>(row: {
  method: Method
  path: Path
  permission: Need
  schema?: Schema
  apply(call: Call<Path>, body: Schema extends z.ZodType ? z.infer<Schema> : null): Answer | Promise<Answer>
}): Route {
  return { ...row, schema: row.schema ?? null } as unknown as Route
}

export type Match = { route: Route; params: Record<string, string> }

/** Finds the row for a request. `{name}` takes one segment, `{name+}` the rest of the path. */
export function createMatcher(routes: readonly Route[]): (method: string, path: string) => Match | null {
  const rows = routes.map(row => ({ row, pattern: compile(row.path) }))
  return (method, path) => {
    for (const { row, pattern } of rows) {
      if (row.method !== method) continue
      const found = pattern.exec(path)
      if (found) return { route: row, params: decodeAll(found.groups ?? {}) }
    }
    return null
  }
}

function compile(path: string): RegExp {
  const source = path
    .split(/(\{\w+\+?\})/)
    .map(part => {
      const name = /^\{(\w+)(\+?)\}$/.exec(part)
      if (!name) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      return name[2] ? `(?<${name[1]}>.*)` : `(?<${name[1]}>[^/]+)`
    })
    .join('')
  return new RegExp(`^${source}$`)
}

function decodeAll(groups: Record<string, string>): Record<string, string> {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(groups)) {
    try {
      params[name] = decodeURIComponent(value)
    } catch {
      params[name] = value
    }
  }
  return params
}
