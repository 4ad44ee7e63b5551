import * as z from 'zod'
import { checkRunNames, type EffectKind, type NewEvent } from '../domain/index.ts'

const sha = z.string().regex(/^[0-9a-f]{40}$/)
const Place = z.object({ owner: z.string(), repo: z.string(), repositoryId: z.int(), installationId: z.int() })

/** What is to be done outside, as data: recorded before it is done, and enough to do it or find it again on any machine. */
export const intentSchemas = {
  reaction: Place.extend({
    subject: z.union([z.object({ commentId: z.int() }), z.object({ issueNumber: z.int() }), z.object({ reviewCommentId: z.int() })]),
    content: z.enum(['eyes', 'confused', '-1', '+1']),
  }),
  /** `commentId`: the comment whose last text this is; null = a new one. */
  progress: Place.extend({ number: z.int(), since: z.string(), body: z.string(), commentId: z.int().nullable() }),
  comment: Place.extend({ number: z.int(), since: z.string(), body: z.string() }),
  /** An answer within a thread of a review; `threadId`: the review comment at its head. */
  reply: Place.extend({ number: z.int(), threadId: z.int(), since: z.string(), body: z.string() }),
  /** `externalId` is the stable key; `checkRunId`: the one this finishes, null = it may have to be made. */
  'check-run': Place.extend({
    headSha: sha,
    name: z.enum(checkRunNames),
    externalId: z.string(),
    checkRunId: z.int().nullable(),
    status: z.enum(['queued', 'in_progress', 'completed']),
    conclusion: z.enum(['success', 'failure', 'neutral', 'cancelled', 'timed_out', 'action_required']).nullable(),
    title: z.string(),
    summary: z.string(),
  }),
  push: Place.extend({
    url: z.string(),
    branch: z.string(),
    sha,
    /** What the branch must be before; null = it must not exist. */
    expect: sha.nullable(),
    /**
     * Present: the same commit made by GitHub's API, which signs it, for who takes signed commits only. Its id is then GitHub's:
     * it is known by these three.
     */
    signed: z.object({ tree: sha, parent: sha, message: z.string() }).optional(),
  }),
  /** Remarks on lines of the pull request's diff at this very head; it neither approves nor asks for anything. */
  review: Place.extend({
    number: z.int(),
    headSha: sha,
    body: z.string(),
    comments: z.array(z.object({ path: z.string(), startLine: z.int().positive(), line: z.int().positive(), body: z.string() })),
  }),
  'pull-request': Place.extend({ head: z.string(), base: z.string(), title: z.string(), body: z.string(), draft: z.boolean() }),
} as const satisfies Record<EffectKind, z.ZodType>

export type Intent<K extends EffectKind> = z.infer<(typeof intentSchemas)[K]>
export type EffectProposal = { [K in EffectKind]: { kind: K; ordinal: number; intent: Intent<K> } }[EffectKind]

/** One task never has two effects of one kind and ordinal; the id is the same on every attempt. */
export function effectId(taskId: string, proposal: Pick<EffectProposal, 'kind' | 'ordinal'>): string {
  return `${taskId}:${proposal.kind}:${proposal.ordinal}`
}

/** What both halves write: the app within an acceptance, the worker right before it applies the effect. */
export function preparedEvent(taskId: string, proposal: EffectProposal): NewEvent & { type: 'effect.prepared' } {
  const id = effectId(taskId, proposal)
  const key = `${proposal.kind}-${proposal.ordinal}`
  return {
    type: 'effect.prepared',
    commandId: `${id}:prepared`,
    payload: { effectId: id, kind: proposal.kind, key, intent: proposal.intent },
  }
}
