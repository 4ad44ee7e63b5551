import type { NewEvent } from '../domain/index.ts'
import type { Octokit, Permissions } from '../github/index.ts'
import type { GitPort } from './effect-kinds.ts'
import type { Writes } from './in-turn.ts'

/** What applying needs of its half (app or worker). All methods may throw when the ledger or GitHub's mint is away. */
export type EffectPorts = {
  /** Appends to the task's log; `fenced`: a newer attempt owns the task and nothing more may be written anywhere. */
  record(events: readonly NewEvent[]): Promise<'recorded' | 'fenced'>
  /** Asked right before every send. */
  holds(): Promise<boolean>
  mint(request: { installationId: number; repositoryId: number; permissions: Permissions }): Promise<string>
  api(token: string): Octokit
  botLogin(): Promise<string>
  git: GitPort
  markerKey: Uint8Array
  /** `stopped`: whoever wants the effect was told to stop, before or while it slept; then nothing more is waited for or sent. */
  sleep(ms: number): Promise<'slept' | 'stopped'>
  readBackGapMs: number
  writes: Writes
}

export type Settled =
  | { kind: 'settled'; state: 'confirmed' | 'rejected' | 'unknown'; remote: Record<string, unknown>; reason: string }
  | { kind: 'fenced' }
  /** `sent`: it may be at GitHub. It stays `dispatched`; the next attempt, or the sweep after the task's end, reads it back. */
  | { kind: 'stopped'; sent: boolean }

/** GitHub gave no answer, and what was to be done is not there: waiting helps. The effect stays `dispatched`. */
export class GitHubAway extends Error {
  override readonly name = 'GitHubAway'
  /** How long GitHub itself asked to be left alone; null = it did not say. */
  readonly waitMs: number | null
  constructor(message: string, waitMs: number | null = null) {
    super(message)
    this.waitMs = waitMs
  }
}
