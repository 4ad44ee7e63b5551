/** Rows GitHub's description of its REST API does not hold, and by which other they are judged. */
export const rowsWithout: Readonly<Record<string, { as: string | null; why: string }>> = {
  'POST /graphql': { as: null, why: 'GraphQL has a schema of its own; the fake holds each operation to its types in `graphql/types.ts`' },
  'GET /repos/{owner}/{repo}/contents': { as: 'GET /repos/{owner}/{repo}/contents/{path+}', why: 'the same operation with an empty path' },
}

const basicError = { $ref: 'github#/$defs/basic-error' }
const validationError = { anyOf: [{ $ref: 'github#/$defs/validation-error' }, { $ref: 'github#/$defs/validation-error-simple' }] }

/** Answers any operation can give, also where its own list leaves them out: GitHub's pages on troubleshooting tell them for all. */
export const everywhere: Readonly<Record<number, Record<string, unknown>>> = {
  301: basicError,
  307: basicError,
  400: basicError,
  401: basicError,
  403: basicError,
  404: basicError,
  410: basicError,
  413: basicError,
  422: validationError,
}

/** Where GitHub itself differs from what it published. */
export const deviations: readonly { row: RegExp; part: 'body' | 'answer'; error: RegExp; why: string }[] = [
  {
    row: /^GET \/app\/installations$/,
    part: 'answer',
    error: /^\/\*\/account must (?:be null|have required property '(?:name|slug|created_at|updated_at)'|match a schema in anyOf)$/,
    why: 'only this list says an account is a user and an enterprise at once; everywhere else an installation has one of them',
  },
  {
    row: /^POST \S+\/pulls\/\{pull_number\}\/comments$/,
    part: 'body',
    error: /^ must have required property '(?:commit_id|path)'$/,
    why: 'its own prose: with in_reply_to, all parameters but body are ignored',
  },
  {
    row: /^(?:GET|PATCH|POST) \S+\/comments(?:$|\/)/,
    part: 'answer',
    error: /^(?:\/\*)?\/(?:line|position) must be integer$/,
    why: 'both are null once the comment is outdated; the schema of the same comment inside a review allows it',
  },
  {
    row: / \S+\/pulls(?:$|\/\{pull_number\}$)/,
    part: 'answer',
    error: /^(?:\/\*)?\/head\/repo must be object$/,
    why: 'null once the fork is deleted, as its webhook payloads show',
  },
]

/** What GitHub answers and has not published. */
export const unpublishedFields: readonly { field: RegExp; why: string }[] = [
  {
    field: /\/custom_properties$/,
    why: "GitHub's example payloads show it wherever a repository stands, the description only where one is asked for by itself",
  },
  { field: /^\/\*\/(?:client_id|account\/user_view_type)$/, why: "only the list's own copy of an installation lacks them" },
  { field: /^\/installed_version$/, why: 'an enterprise server tells its version, and the base URL of the fake is one of those' },
]
