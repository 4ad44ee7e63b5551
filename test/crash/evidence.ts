import type { RecordedEvent } from '../../domain/index.ts'

/**
 * What was left of a run, as plain data: the fake GitHub's and the fake model's own records, the ledger, and what lies about
 * on the machine. The oracle sees nothing else, so a test can write any fault into it. Times are UTC milliseconds.
 */
export type Evidence = {
  takenAt: number
  /** From here on nothing was killed or cut any more. */
  calmAt: number
  /** Kills and cuts: each may cost one request of the model that is made again. */
  disturbances: number
  /** What carried a command. `accepted`: the 2xx left the socket. */
  asked: { commentId: number; accepted: boolean }[]
  /** As the fake GitHub saw them. `attempt`: `<task>/<number>`, whose token it was. */
  requests: { at: number; method: string; url: string; status: number | null; attempt: string | null }[]
  things: Thing[]
  branches: Record<string, string>
  /** Every move of a branch while the run lasted, oldest first. */
  pushes: { branch: string; sha: string; tree: string }[]
  modelRequests: { at: number; hash: string }[]
  tasks: TaskEvidence[]
  /** Set aside and not settled, by budget, in millionths of a dollar. */
  reserved: Record<string, number>
  /** Owners of attempts that are still open. */
  openOwners: string[]
  /** Processes, folders and work trees of runs. */
  leftovers: string[]
}

/** One object at GitHub that the App made. */
export type Thing = {
  kind: 'comment' | 'reply' | 'review' | 'pull' | 'check-run' | 'reaction'
  id: number
  /** What it hangs on: a thread, a line, a branch, a commit. */
  target: string
  body: string
  /** Its last version. */
  at: number
}

export type TaskEvidence = {
  taskId: string
  needsWorker: boolean
  events: RecordedEvent[]
  /** Null: the chain of the events holds. */
  chainFault: string | null
  bundle: 'verifies' | 'missing' | 'does not verify'
  /** Its change lies beside the ledger. */
  hasPatch: boolean
  /** How often each of the script's commands really ran. */
  runs: Record<string, number>
}
