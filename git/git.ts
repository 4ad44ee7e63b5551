import type { ChangedFile } from '../domain/index.ts'

/**
 * Host-side git, on bare repositories only the host writes. Once anything of a repository or a model has run, no git
 * command of the host touches that work tree or its gitdir: a tree is made inside a fresh sandbox by the plan this folder
 * writes (`planTree`), and only its objects come out, checked (`adoptTree`).
 */

export type Credential = () => Promise<string>

/** A complete bare mirror of one repository, host-owned. `objects` is what sandboxes mount read-only. */
export type Mirror = { path: string; objects: string }

/** A task's own bare repository beside the mirror: snapshots and the final commit. The agent never sees it. */
export type Store = { path: string; mirror: Mirror }

export type Workspace = {
  /** The work tree, bound at /workspace; owned by the session's user. Its `.git` is an empty folder (a mount point). */
  path: string
  /** Bound at /workspace/.git in the agent's sandboxes; after the first command nobody outside one reads it. */
  agentGitDir: string
  /** The index the checkout wrote, host-owned: tree sandboxes start from a copy of it. */
  index: string
  baseSha: string
  baseTree: string
  files: number
  /** Everything of it lies under one folder, removed by this; safe to repeat. */
  remove(): Promise<void>
}

/** What a fresh sandbox must mount and run to make a tree of the work tree; wired to the sandbox by the worker. */
export type TreePlan = {
  mounts: { source: string; target: string; mode: 'ro' | 'rw' }[]
  argv: string[]
  env: Record<string, string>
  /** Host folder with the result, for `adoptTree`. */
  quarantine: string
}

export type TreeSelection =
  /** Everything that is not ignored: a snapshot. */
  | { kind: 'all' }
  /** The change: tracked modifications always, untracked ones only when listed. Paths are byte strings relative to the root. */
  | { kind: 'change'; include: readonly string[] }

export type AdoptedTree =
  | { kind: 'adopted'; tree: string; untracked: string[]; gitlinksLeftOut: string[] }
  | { kind: 'refused'; path: string; reason: string }

export type TreeRules = { fileBytesMax: number; packBytesMax: number; filesMax: number }

export type TreeDiff = { files: ChangedFile[]; patch: Uint8Array }

export type PushResult =
  | { kind: 'pushed'; remoteSha: string }
  /** Classified from porcelain output, never from prose. `remoteSha` is what the remote has, null when there is no such ref. */
  | { kind: 'rejected'; reason: 'moved' | 'protected' | 'workflows' | 'denied' | 'other'; message: string; remoteSha: string | null }
