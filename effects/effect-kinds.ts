import { checkRunButtons, type EffectKind } from '../domain/index.ts'
import {
  createCheckRun,
  createComment,
  createPull,
  createReaction,
  createReply,
  createReview,
  findCheckRun,
  isInHistory,
  listComments,
  listPullsFrom,
  listReactions,
  listReviewComments,
  listReviews,
  type Octokit,
  type Permissions,
  updateCheckRun,
  updateComment,
  type WriteKind,
} from '../github/index.ts'
import type { Intent } from './intents.ts'
import { readMarker, renderMarker } from './marker.ts'
import { isSigned, readBackSigned, sendSigned } from './signed-push.ts'

/** What exists at the other side, as it is recorded: ids, urls, shas. */
export type Remote = Record<string, string | number | boolean>
export type ReadBack =
  | { kind: 'found'; remote: Remote }
  | { kind: 'absent' }
  | { kind: 'other'; reason: string; remote: Remote }
  /** Nobody lets us look, and will not when asked again. */
  | { kind: 'refused'; reason: string }

export type EffectContext = {
  task: string
  key: string
  api: Octokit
  token: string
  botLogin: string
  markerKey: Uint8Array
  git: GitPort
  /** For what takes more than one request: asked again before each that writes. */
  holds(): Promise<boolean>
  /** For the same: one write of it, in the turn of its installation; asks for ownership itself once the turn has come. */
  turn<T>(write: () => Promise<T>): Promise<T | 'stopped' | 'fenced'>
}

/** Pushing is git's business; the worker plugs it in. */
export type GitPort = {
  /** Throws when it is not known whether the push arrived. */
  push(intent: Intent<'push'>, token: string): Promise<{ kind: 'pushed' } | PushRejected>
  /** Where the branch is, null = there is none. Throws when the remote is away. */
  readRef(intent: Intent<'push'>, token: string): Promise<{ kind: 'read'; sha: string | null } | { kind: 'refused'; reason: string }>
  /** What the commit changes, with all bytes; `content` null = it is taken away. `refused`: too much of it, or no text can name it. */
  readChange(
    intent: Intent<'push'>,
  ): Promise<
    | { kind: 'read'; baseTree: string; entries: readonly { path: string; mode: string; content: Uint8Array | null }[] }
    | { kind: 'refused'; reason: string }
  >
}

/** `refusal`: the class of the reason, as git names it; `said`: the remote's own words, '' when it said none. */
type PushRejected = { kind: 'rejected'; reason: string; refusal: string; said: string; remoteSha: string | null }

/** For who may not push: nothing is sent and nothing is looked for. */
export function noGit(reason: string): GitPort {
  return {
    push: async () => ({ kind: 'rejected', reason, refusal: 'other', said: '', remoteSha: null }),
    readRef: async () => ({ kind: 'refused', reason }),
    readChange: async () => ({ kind: 'refused', reason }),
  }
}

/** `stopped`: between two requests of it; what they made shows nowhere yet, or is found by reading back. */
export type Sent =
  | { kind: 'done'; remote: Remote }
  | { kind: 'rejected'; reason: string; remote: Remote }
  | { kind: 'fenced' }
  | { kind: 'stopped' }

/**
 * One row an effect kind. A row without a stable key's read-back does not compile. `send` throws what Octokit throws; it
 * is called once a try, right after ownership was checked.
 */
export type EffectKindRow<K extends EffectKind> = {
  permissions: Permissions
  risk: 'low' | 'medium' | 'high'
  /** As what GitHub counts it; null = not at all, as git's own protocol. */
  writes(intent: Intent<K>): WriteKind | null
  /** How it is undone; null = it can not be. */
  compensation: string | null
  send(intent: Intent<K>, context: EffectContext): Promise<Sent>
  /** Looks for what `send` makes by listing its target; never by search, which lags. */
  readBack(intent: Intent<K>, context: EffectContext): Promise<ReadBack>
}

/** A comment or reaction on an issue needs the first, on a pull request the second; the subject may be either. */
const onThreads: Permissions = { issues: 'write', pull_requests: 'write' }

const created = commentRow('progress')
/** A new comment is found by its marker; the last text of a known one by the whole of it. */
const progressRow: Pick<EffectKindRow<'progress'>, 'send' | 'readBack'> = {
  send: async (intent, context) => {
    if (intent.commentId === null) return await created.send(intent, context)
    return { kind: 'done', remote: await updateComment(context.api, intent, intent.commentId, progressText(intent, context)) }
  },
  readBack: async (intent, context) => {
    if (intent.commentId === null) return await created.readBack(intent, context)
    const comments = await listComments(context.api, intent, intent.number, intent.since)
    const ours = comments.find(comment => comment.id === intent.commentId)
    if (!ours) return { kind: 'other', reason: 'the comment is gone', remote: {} }
    return ours.body === progressText(intent, context) ? { kind: 'found', remote: { id: ours.id, url: ours.url } } : { kind: 'absent' }
  },
}

/** An edited comment keeps the marker it was created with: that is how it is found. */
function progressText(intent: Intent<'progress'>, context: EffectContext): string {
  return `${marker('progress', { ...context, key: 'progress-1' }, placeOf(intent, intent.number))}\n${intent.body}`
}

export const effectKinds: { [K in EffectKind]: EffectKindRow<K> } = {
  reaction: {
    permissions: onThreads,
    writes: () => 'other',
    risk: 'low',
    compensation: 'delete the reaction',
    send: async (intent, { api }) => ({ kind: 'done', remote: await createReaction(api, intent, intent.subject, intent.content) }),
    readBack: async (intent, { api, botLogin }) => {
      const ours = (await listReactions(api, intent, intent.subject, intent.content)).find(reaction => reaction.author === botLogin)
      return ours ? { kind: 'found', remote: { id: ours.id } } : { kind: 'absent' }
    },
  },
  progress: {
    permissions: onThreads,
    writes: ({ commentId }) => (commentId === null ? 'content' : 'other'),
    risk: 'low',
    compensation: 'delete the comment',
    ...progressRow,
  },
  comment: { permissions: onThreads, writes: () => 'content', risk: 'low', compensation: 'delete the comment', ...commentRow('comment') },
  reply: {
    permissions: { pull_requests: 'write' },
    writes: () => 'content',
    risk: 'low',
    compensation: 'delete the comment',
    send: async (intent, context) => {
      const body = `${marker('reply', context, placeOf(intent, intent.number))}\n${intent.body}`
      return { kind: 'done', remote: await createReply(context.api, intent, intent.number, intent.threadId, body) }
    },
    readBack: async (intent, context) => {
      const place = placeOf(intent, intent.number)
      const comments = await listReviewComments(context.api, intent, intent.number, intent.since)
      const ours = comments.find(comment => comment.author === context.botLogin && isOurs(comment.body, 'reply', context, place))
      return ours ? { kind: 'found', remote: { id: ours.id, url: ours.url } } : { kind: 'absent' }
    },
  },
  'check-run': {
    permissions: { checks: 'write' },
    writes: () => 'other',
    risk: 'low',
    compensation: null,
    // One that was made for the same task meanwhile, by either half, is taken: a second would stay at "queued" for ever.
    send: async (wish, { api, holds }) => {
      const intent = { ...wish, actions: buttonsOf(wish) }
      const known = intent.checkRunId ?? (await findCheckRun(api, intent, intent))?.id ?? null
      // The look took a request of its own.
      if (!(await holds())) return { kind: 'fenced' }
      const made =
        known === null
          ? await createCheckRun(api, intent, intent)
          : intent.status === 'completed'
            ? await updateCheckRun(api, intent, known, intent)
            : { id: known, url: '' }
      return { kind: 'done', remote: { id: made.id, url: made.url } }
    },
    readBack: async (intent, { api }) => {
      const found = await findCheckRun(api, intent, intent)
      if (found === null) return { kind: 'absent' }
      const isDone = intent.status !== 'completed' || (found.status === 'completed' && found.title === intent.title)
      return isDone ? { kind: 'found', remote: { id: found.id, url: found.url } } : { kind: 'absent' }
    },
  },
  review: {
    permissions: { pull_requests: 'write' },
    writes: () => 'content',
    risk: 'medium',
    compensation: null,
    send: async (intent, context) => {
      const body = `${marker('review', context, placeOf(intent, intent.number))}\n${intent.body}`
      const review = await createReview(context.api, intent, intent.number, { ...intent, body })
      return { kind: 'done', remote: { id: review.id, url: review.url, comments: intent.comments.length } }
    },
    readBack: async (intent, context) => {
      const place = placeOf(intent, intent.number)
      const reviews = await listReviews(context.api, intent, intent.number)
      const ours = reviews.find(review => review.author === context.botLogin && isOurs(review.body, 'review', context, place))
      return ours ? { kind: 'found', remote: { id: ours.id, url: ours.url, comments: intent.comments.length } } : { kind: 'absent' }
    },
  },
  push: {
    permissions: { contents: 'write' },
    // By git it is none of the API's; by the API it takes a turn for each of its requests.
    writes: () => null,
    risk: 'medium',
    compensation: 'delete the branch',
    send: async (intent, context) => {
      if (isSigned(intent)) return await sendSigned(intent, context)
      const { git, token, api } = context
      const result = await git.push(intent, token)
      if (result.kind === 'pushed') return { kind: 'done', remote: { branch: intent.branch, sha: intent.sha } }
      const { reason, refusal, said, remoteSha } = result
      // A connection that broke is tried again by git itself, and then its own first push is in the way of the second.
      if (remoteSha !== intent.expect && (await isUnder(api, intent, remoteSha)))
        return { kind: 'done', remote: { branch: intent.branch, sha: intent.sha } }
      return { kind: 'rejected', reason, remote: { branch: intent.branch, sha: remoteSha ?? '', refusal, said } }
    },
    readBack: async (intent, context) => {
      if (isSigned(intent)) return await readBackSigned(intent, context)
      const { git, token, api } = context
      const read = await git.readRef(intent, token)
      if (read.kind === 'refused') return read
      const remoteSha = read.sha
      if (remoteSha === intent.sha) return { kind: 'found', remote: { branch: intent.branch, sha: remoteSha } }
      if (remoteSha === intent.expect) return { kind: 'absent' }
      if (await isUnder(api, intent, remoteSha)) return { kind: 'found', remote: { branch: intent.branch, sha: intent.sha } }
      return {
        kind: 'other',
        reason: `the branch is at ${remoteSha ?? 'no commit'}, not where it was`,
        remote: { branch: intent.branch, sha: remoteSha ?? '' },
      }
    },
  },
  'pull-request': {
    permissions: { pull_requests: 'write' },
    writes: () => 'content',
    risk: 'medium',
    compensation: 'close the pull request',
    send: async (intent, context) => {
      const { head, base, title, draft } = intent
      const body = `${marker('pr', context, placeOf(intent))}\n${intent.body}`
      const pull = await createPull(context.api, intent, { head, base, title, draft, body })
      return { kind: 'done', remote: { number: pull.number, url: pull.url, headSha: pull.headSha, draft: pull.draft } }
    },
    readBack: async (intent, context) => {
      const pulls = await listPullsFrom(context.api, intent, intent.head)
      const ours = pulls.find(pull => pull.author === context.botLogin && isOurs(pull.body, 'pr', context, placeOf(intent)))
      return ours
        ? { kind: 'found', remote: { number: ours.number, url: ours.url, headSha: ours.headSha, draft: ours.draft } }
        : { kind: 'absent' }
    },
  },
}

/** None while it runs, and nothing to give again once it succeeded. */
function buttonsOf({ status, conclusion }: Intent<'check-run'>) {
  if (status !== 'completed' || conclusion === 'success') return []
  return checkRunButtons.map(({ identifier, label, description }) => ({ identifier, label, description }))
}

/** Whether what was pushed is in the branch, and somebody has pushed on top of it by now. */
async function isUnder(api: Octokit, intent: Intent<'push'>, remoteSha: string | null): Promise<boolean> {
  return remoteSha !== null && (await isInHistory(api, intent, intent.sha, remoteSha))
}

function commentRow(kind: 'progress' | 'comment'): Pick<EffectKindRow<'comment'>, 'send' | 'readBack'> {
  return {
    send: async (intent, context) => {
      const body = `${marker(kind, context, placeOf(intent, intent.number))}\n${intent.body}`
      return { kind: 'done', remote: await createComment(context.api, intent, intent.number, body) }
    },
    readBack: async (intent, context) => {
      const comments = await listComments(context.api, intent, intent.number, intent.since)
      const place = placeOf(intent, intent.number)
      const ours = comments.find(comment => comment.author === context.botLogin && isOurs(comment.body, kind, context, place))
      return ours ? { kind: 'found', remote: { id: ours.id, url: ours.url } } : { kind: 'absent' }
    },
  }
}

function placeOf(intent: { owner: string; repo: string }, number?: number): string {
  return number === undefined ? `${intent.owner}/${intent.repo}` : `${intent.owner}/${intent.repo}#${number}`
}

function marker(kind: string, { markerKey, task, key }: EffectContext, place: string): string {
  return renderMarker(markerKey, { kind, task, key }, place)
}

function isOurs(body: string, kind: string, { markerKey, task, key }: EffectContext, place: string): boolean {
  const found = readMarker(markerKey, body, place)
  return found !== null && found.kind === kind && found.task === task && found.key === key
}

/** All that a task with these effects may ever need of GitHub: what they write, and what is read for them. */
export function permissionsOf(kinds: readonly EffectKind[]): Permissions {
  const reads: Permissions = { metadata: 'read', contents: 'read', issues: 'read', pull_requests: 'read' }
  return Object.assign({}, reads, ...kinds.map(kind => effectKinds[kind].permissions))
}
