import type { Grant, Limits, Payload, RecordedEvent, Usage } from '../domain/index.ts'
import type { GateTables } from './gate/rows.ts'
import type { SessionLimits } from './limits.ts'
import type { FamilyName } from './tools/families.ts'

/** One session's facts: plain data that crosses a thread boundary. */
export type SessionStart = {
  taskId: string
  /** What it is for: a change of the work tree, or an answer in words to a question about it. */
  purpose: Purpose
  request: {
    /** The command as it was written: `/grok fix the parser`. */
    text: string
    requester: string
    subject: { kind: 'issue' | 'pull'; number: number; title: string; body: string } | null
  }
  repository: {
    owner: string
    name: string
    baseRef: string
    baseSha: string
    /** The pull request whose head is checked out; absent = the base itself is. Its branch's name is its author's and is not shown. */
    pull?: { number: number; headSha: string; baseRef: string; baseSha: string }
  }
  /** Whether the words come from somebody who may write to the repository. Untrusted ones taint the task when read. */
  trust: { subject: Trust; repository: Trust }
  /** Instruction files of the base, root first: `{ path: 'AGENTS.md', text }`. */
  instructions: readonly { path: string; text: string }[]
  grant: Grant
  limits: Limits
  /** UTC milliseconds; the session ends here or after `limits.wallMs`, whichever is first. */
  deadlineAt: number
  /** Said to the model: whether its commands have a network. */
  network: 'none' | 'proxy' | 'host'
  family: FamilyName
  model: ModelSettings
  /** Absent = the empty tables. */
  gate?: Partial<GateTables>
  /** The folder of the prompts in a bundle; absent = the source tree's. */
  promptsFolder?: string
  /** Settings of the operator over `sessionLimits`. */
  tuning?: Partial<SessionLimits>
  /** Every event of the task so far; the session's own ones among them are consumed, never made again. */
  recorded: readonly RecordedEvent[]
}

export type Purpose = 'change' | 'answer'

type Trust = 'trusted' | 'untrusted'

export type ModelSettings = {
  name: string
  /** The most output tokens one answer may have; sent with every request, so that a reservation is a bound. */
  outputTokensMax: number
  /** Which field of the request carries it; older servers know only the second. */
  outputTokensField: 'max_completion_tokens' | 'max_tokens'
  temperature: number | null
  /** Micro-USD for a million tokens. Null = unknown: an error as soon as a money cap is set. */
  price: ModelPrice | null
}

export type ModelPrice = { input: number; cachedInput: number; output: number }

export type EndReason = Payload<'session.ended'>['reason']

export type SessionResult =
  | {
      kind: 'ended'
      reason: EndReason
      /** The model's last words. */
      text: string
      turns: number
      /** What it cost, failed and lost requests included. */
      usage: Usage
      tainted: readonly { source: string; detail: string }[]
    }
  /** A newer attempt owns the task. Nothing more was recorded. */
  | { kind: 'fenced' }
  /** The worker asked for it: another attempt goes on. Nothing was ended. */
  | { kind: 'handed-over' }
  /** Nothing was asked of the model. `key` names the setting to change. */
  | { kind: 'config-error'; key: string; message: string }
