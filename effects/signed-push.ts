import {
  classifyError,
  createBlob,
  createBranch,
  createCommit,
  createTree,
  forwardBranch,
  type GitCommit,
  listCommitsBetween,
  type TreeEntry,
} from '../github/index.ts'
import { crashpoint } from '../telemetry/index.ts'
import type { EffectContext, GitPort, ReadBack, Remote, Sent } from './effect-kinds.ts'
import type { Intent } from './intents.ts'

/** A push whose commit GitHub makes. */
export type SignedPush = Intent<'push'> & { signed: NonNullable<Intent<'push'>['signed']> }

export function isSigned(intent: Intent<'push'>): intent is SignedPush {
  return intent.signed !== undefined
}

type Context = Pick<EffectContext, 'api' | 'git' | 'token' | 'holds' | 'turn'>

/**
 * The same commit by GitHub's API, which signs what it makes itself: objects first, and the branch last. Nothing is at a
 * branch before the tree is known to be ours to the byte; what was made and is at none is nobody's, and GitHub tidies it up.
 * Each write has a turn of its own among the installation's, and is left when the task is lost, or a stop came, before it.
 */
export async function sendSigned(intent: SignedPush, context: Context): Promise<Sent> {
  const { branch, expect, signed } = intent
  const before = await context.git.readRef(intent, context.token)
  if (before.kind === 'refused') return refused(intent, before.reason, {})
  if (before.sha !== expect) return refused(intent, `the branch is at ${before.sha ?? 'no commit'}`, { sha: before.sha ?? '' })
  const change = await context.git.readChange(intent)
  if (change.kind === 'refused') return impossible(intent, `the change can not be made by the API: ${change.reason}`)
  const { api, turn } = context
  try {
    const entries = await entriesOf(intent, change.entries, context)
    if (entries === 'stopped' || entries === 'fenced') return { kind: entries }
    const tree = await turn(() => createTree(api, intent, change.baseTree, entries))
    if (tree === 'stopped' || tree === 'fenced') return { kind: tree }
    if (tree !== signed.tree) return impossible(intent, 'the tree that GitHub made of the change is another one')
    const commit = await turn(() => createCommit(api, intent, signed))
    if (commit === 'stopped' || commit === 'fenced') return { kind: commit }
    if (!isOurs(commit, signed)) return impossible(intent, 'the commit that GitHub made is another one')
    crashpoint('effect.push.committed')
    const moved = await turn(() => moveBranch(intent, commit.sha, context))
    if (moved === 'stopped' || moved === 'fenced') return { kind: moved }
    return moved ?? { kind: 'done', remote: { branch, sha: commit.sha } }
  } catch (error) {
    return await explain(error, intent, context)
  }
}

/**
 * The API takes no lease: it moves a branch wherever ours comes after it, also over commits that somebody has just taken
 * away. So the branch is looked at again in the same moment; null = it was moved.
 */
async function moveBranch(intent: SignedPush, sha: string, { api, git, token, holds }: Context): Promise<Sent | null> {
  const { branch, expect } = intent
  const now = await git.readRef(intent, token)
  if (now.kind === 'refused') return refused(intent, now.reason, {})
  if (now.sha !== expect) return refused(intent, `the branch is at ${now.sha ?? 'no commit'}`, { sha: now.sha ?? '' })
  // The look took a while of its own: a worker that lost its lease in it moves no branch.
  if (!(await holds())) return { kind: 'fenced' }
  if (expect === null) await createBranch(api, intent, branch, sha)
  else await forwardBranch(api, intent, branch, sha)
  return null
}

/** By listing what came onto the branch: ours may be under what others pushed on top of it. */
export async function readBackSigned(intent: SignedPush, { api, git, token }: Context): Promise<ReadBack> {
  const { branch, expect, signed } = intent
  const read = await git.readRef(intent, token)
  if (read.kind === 'refused') return read
  if (read.sha === expect) return { kind: 'absent' }
  const commits = read.sha === null ? [] : await listCommitsBetween(api, intent, signed.parent, read.sha)
  const ours = commits.find(commit => isOurs(commit, signed))
  if (ours) return { kind: 'found', remote: { branch, sha: ours.sha } }
  return { kind: 'other', reason: `the branch is at ${read.sha ?? 'no commit'}, not where it was`, remote: { branch, sha: read.sha ?? '' } }
}

/** The task's name stands in the message, so that no other commit is like it. Servers differ in whether they keep its last line break. */
function isOurs({ tree, parents, message }: GitCommit, signed: SignedPush['signed']): boolean {
  return tree === signed.tree && parents.length === 1 && parents[0] === signed.parent && message.trimEnd() === signed.message.trimEnd()
}

type Change = Extract<Awaited<ReturnType<GitPort['readChange']>>, { kind: 'read' }>

/** Text goes with the tree; bytes that JSON can not hold are sent before it. */
async function entriesOf(
  intent: SignedPush,
  entries: Change['entries'],
  { api, turn }: Context,
): Promise<TreeEntry[] | 'stopped' | 'fenced'> {
  const made: TreeEntry[] = []
  for (const { path, mode, content } of entries) {
    const text = content === null ? null : textOf(content)
    if (content === null) made.push({ path, mode, sha: null })
    else if (mode === submodule) made.push({ path, mode, sha: Buffer.from(content).toString('latin1') })
    else if (text !== null) made.push({ path, mode, text })
    else {
      const sha = await turn(() => createBlob(api, intent, content))
      if (sha === 'stopped' || sha === 'fenced') return sha
      made.push({ path, mode, sha })
    }
  }
  return made
}

const submodule = '160000'

/** Null: it is not what comes out when it is put in again, or has what GitHub could take for something else. */
function textOf(content: Uint8Array): string | null {
  const bytes = Buffer.from(content)
  const text = bytes.toString('utf8')
  return text.includes('\0') || !Buffer.from(text, 'utf8').equals(bytes) ? null : text
}

/** A branch that is not where it was is told from a rule that refuses it by looking at it, never by what GitHub says. */
async function explain(error: unknown, intent: SignedPush, { git, token }: Context): Promise<Sent> {
  const fault = classifyError(error)
  if (fault.kind !== 'rejected' || fault.status === 401) throw error
  const now = await git.readRef(intent, token)
  const sha = now.kind === 'read' ? { sha: now.sha ?? '' } : {}
  const said = fault.message.replace(/\s+/g, ' ').trim()
  return refused(intent, `GitHub said ${fault.status}: ${said}`, { ...sha, refusal: fault.status === 422 ? 'protected' : 'denied', said })
}

function refused({ branch }: SignedPush, reason: string, remote: Remote): Sent {
  return { kind: 'rejected', reason, remote: { branch, ...remote } }
}

/** Not by GitHub: the rule stands, and this way around it does not lead there. `note` is for people. */
function impossible(intent: SignedPush, note: string): Sent {
  return refused(intent, `unsigned: ${note}`, { sha: intent.expect ?? '', refusal: 'unsigned', said: '', note })
}
