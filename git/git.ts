import type { ChangedFile } from '../domain/index.ts'

/**
 * Host-side git, on bare repositories only the host writes; a person's own repository is borrowed (`borrowRepository`),
 * and written for `--apply` alone. Once anything of a repository or a model has run, no git
 * command of the host touches that work tree or its gitdir: a tree is made inside a fresh sandbox by the plan this folder
 * writes (`planTree`), and only its objects come out, checked (`adoptTree`).
 *
 * A path is a string everywhere: its UTF-8 text, with bytes that are not UTF-8 as `\xNN` (`showPath`, `pathBytes`).
 */

/** Asked once a call, right before git starts, so that a token is never older than its use. */
export type Credential = () => Promise<string>

/** Where a repository lives outside: an https URL, or a local folder for `grokbot run`. A URL never carries a password. */
export type Remote = {
  url: string
  credential?: Credential
  /** Proxy and CA settings of the operator; only the names in `remoteEnvironmentNames` are passed on. */
  environment?: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
}

/** A complete bare mirror of one repository, host-owned. `objects` is what sandboxes mount read-only. */
export type Mirror = {
  path: string
  objects: string
  /** Locked by whoever changes the mirror; the kernel lets go of it when its holder dies. */
  lock: string
  /** The group that may read `objects`: a session's user must have it as its gid. Null when the host is not root. */
  gid: number | null
  /** One git process of the host on this repository may take this long. */
  wallMs: number
}

/** A task's own bare repository beside the mirror: snapshots and the final commit. The agent never sees it. */
export type Store = { path: string; mirror: Mirror }

/** The Unix user everything of one session runs as. */
export type WorkspaceUser = { uid: number; gid: number }

export type HostMount = { source: string; target: string; mode: 'ro' | 'rw' }

export type Workspace = {
  /** The work tree, bound at /workspace; owned by the session's user. Its `.git` is an empty folder (a mount point). */
  path: string
  /** Bound at /workspace/.git in the agent's sandboxes; after the first command nobody outside one reads it. */
  agentGitDir: string
  /** What the agent's sandboxes mount besides the work tree: its gitdir and the objects its alternates name. */
  agentMounts: HostMount[]
  /** The index the checkout wrote, host-owned: tree sandboxes start from a copy of it. */
  index: string
  /** Objects of the opened tree that the mirror does not have; null when it was the base's own tree. */
  extraObjects: string | null
  user: WorkspaceUser
  baseSha: string
  baseTree: string
  /** The tree that was checked out: the base's, or a snapshot's. */
  tree: string
  files: number
  /** Submodules of the tree: empty folders in the work tree. */
  submodules: string[]
  /** Removes all of it; safe to repeat. */
  remove(): Promise<void>
}

/** What a fresh sandbox must mount and run to make a tree of the work tree; wired to the sandbox by the worker. */
export type TreePlan = {
  /** To be bound at /workspace, read-only and without the agent's gitdir. */
  workspace: { source: string; mode: 'ro' }
  /** Everything else. */
  mounts: HostMount[]
  argv: string[]
  env: Record<string, string>
  selection: TreeSelection['kind']
  /** The tree the workspace was opened at: its objects are in the store already. */
  openedTree: string
  /** A tree that was adopted before from the same work tree, or null: when it comes out again there is nothing to pack. */
  adoptedTree: string | null
  /** Host folder with the result, for `adoptTree`; a new one for each plan, and the only place its sandbox has to write to. */
  quarantine: string
  /** Another tree of the same work tree in a quarantine of its own, with the same mounts and other listed paths. It is removed by itself, or with this one. */
  again(adoptedTree: string | null, include: readonly string[]): TreePlan
  /** Removes all of the plan; safe to repeat. */
  remove(): Promise<void>
}

export type TreeSelection =
  /** Everything that is not ignored, and what is listed although it is: a snapshot. */
  | { kind: 'all'; include?: readonly string[] }
  /** The change: tracked modifications always, untracked ones only when listed (also when ignored). Relative to the root. */
  | { kind: 'change'; include: readonly string[] }

export type AdoptedTree =
  | {
      kind: 'adopted'
      tree: string
      /** Files that are neither tracked nor ignored, whether they were included or not. */
      untracked: string[]
      /** Nested repositories and submodules whose state in the work tree is not in the tree. */
      gitlinksLeftOut: string[]
      /** Sockets, FIFOs, devices and names git can not hold. */
      specialsLeftOut: string[]
    }
  /** Nothing of it reached the store. */
  | { kind: 'refused'; path: string; reason: string }

export type TreeRules = { fileBytesMax: number; packBytesMax: number; filesMax: number }

export type TreeDiff = {
  files: ChangedFile[]
  /** `git apply --index` of it on the first tree gives exactly the second; null when larger than `patchBytesMax`. */
  patch: Uint8Array | null
}

export type PushResult =
  | { kind: 'pushed'; remoteSha: string }
  /**
   * Classified from porcelain output, never from prose; only which rule it was that `protected` stands for is nowhere else.
   * `said`: the remote's own prose, for people, '' when it said none.
   * `remoteSha` is what the remote has, null when there is no such ref.
   */
  | { kind: 'rejected'; reason: PushRefusal; message: string; said: string; remoteSha: string | null }
  /** It may or may not have arrived: no answer about the ref (a time-out, a server error), or the remote could not be asked afterwards. */
  | { kind: 'unknown'; message: string }

/** `unsigned`: of what guards the ref, a rule that takes signed commits only is named. */
export type PushRefusal = 'moved' | 'protected' | 'unsigned' | 'workflows' | 'denied' | 'other'

/** Why a remote gave nothing. `message` is for people and holds no credential. */
export type RemoteFault = {
  kind: 'failed'
  reason: 'denied' | 'not-found' | 'unreachable' | 'timed-out' | 'cancelled' | 'shallow' | 'other'
  message: string
}

export type FetchResult =
  | { kind: 'fetched' }
  /** The remote has no such ref, or it is not at the expected commit. */
  | { kind: 'ref-missing'; ref: string; message: string }
  | { kind: 'ref-moved'; ref: string; expected: string; actual: string; message: string }
  | RemoteFault

export type BaseResult =
  | { kind: 'found'; ref: string; sha: string; tree: string }
  /** The repository has no commit at all. */
  | { kind: 'empty'; message: string }
  | { kind: 'missing'; message: string }

export type FileAt =
  | { kind: 'file'; content: Uint8Array; mode: '100644' | '100755' }
  | { kind: 'absent' }
  | { kind: 'refused'; reason: 'symlink' | 'submodule' | 'folder' | 'too-large'; message: string }

export type TreeEntry = { path: string; mode: string; type: 'blob' | 'tree' | 'commit'; sha: string; bytes: number | null }
