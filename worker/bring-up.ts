import { type FetchOptions, type FetchResult, fetchMirror, hasCommit, type Mirror } from '../git/index.ts'
import { Gone } from './gone.ts'
import { workerLimits } from './limits.ts'
import { goOn } from './stopped.ts'
import type { Start, Task } from './task.ts'
import { TaskFault } from './task-fault.ts'
import { Unreachable, withPatience } from './with-patience.ts'

/** A pull request's head as it was when the task was accepted, or, when that had moved, what the change was made again on. */
export function startOf({ accepted, log }: Pick<Task, 'accepted' | 'log'>): Start {
  return { sha: log.state().change?.onto?.sha ?? accepted.pull?.headSha ?? accepted.base.sha }
}

/**
 * Brings the mirror up to the commits a task needs. A commit never changes: a folder of this machine is not asked again for
 * what is here. GitHub is, for its word on access, unless the task is cancelled and nothing more is sent there.
 */
export async function bringUp(task: Task, mirror: Mirror, start: Start): Promise<void> {
  const { accepted } = task
  const local = accepted.installationId === null || task.walk === 'keep-work'
  if (local && (await hasCommit(mirror, accepted.base.sha)) && (await hasCommit(mirror, start.sha))) return
  await bringHead(task, mirror, start)
  if (!(await hasCommit(mirror, accepted.base.sha)))
    throw new Gone(`the commit ${accepted.base.sha} is in no branch of the repository any more`)
}

/**
 * All branches, and the head of a pull request from the base repository's own `refs/pull/N/head`, whatever its branch is called
 * and wherever it lies. It may have moved on since: what counts is this commit, which is there, or is handed out by its id.
 */
export async function bringHead(task: Task, mirror: Mirror, { sha }: Start): Promise<void> {
  const fetched = await fetch(task, mirror, refsOf(task, sha))
  // Then git took nothing at all.
  if (fetched.kind === 'ref-missing') await fetch(task, mirror, {})
  if (!task.accepted.pull || (await hasCommit(mirror, sha))) return
  await fetch(task, mirror, { commits: [sha] })
  if (!(await hasCommit(mirror, sha)))
    throw new Gone(`the head ${sha} of this pull request was rewritten and is gone; ask again for the new one`)
}

type Wanted = Pick<FetchOptions, 'refs' | 'commits'>

function refsOf({ accepted }: Task, sha: string): Wanted {
  const { pull, subject, base } = accepted
  if (pull && subject) return { refs: { [`refs/pull/${subject.number}/head`]: sha } }
  // A local run may start from a tag or another remote's branch: those are fetched by their name, branches always.
  return base.ref.startsWith('refs/') ? { refs: { [base.ref]: null } } : {}
}

async function fetch(task: Task, mirror: Mirror, wanted: Wanted): Promise<FetchResult> {
  const { accepted } = task
  const credential = readCredential(task)
  const options = { url: accepted.repository.url, ...(credential ? { credential } : {}), ...wanted, signal: task.stop }
  let tries = 0
  return await withPatience(task, 'fetching the repository', async () => {
    tries += 1
    const fetched = await fetchMirror(mirror, options)
    goOn(task)
    if (fetched.kind === 'fetched') return fetched
    const message = `the repository could not be fetched: ${fetched.message}`
    if (fetched.kind === 'failed' && (fetched.reason === 'unreachable' || fetched.reason === 'timed-out')) throw new Unreachable(message)
    if (mayBeBroken(fetched, accepted.repository.url, wanted, tries)) throw new Unreachable(message)
    // Whether the head is here is looked at by its id.
    if (accepted.pull && (fetched.kind !== 'failed' || wanted.commits)) return fetched
    throw new TaskFault('fetch-failed', message)
  })
}

/** A connection that broke in the middle leaves a remote that answers well when it is asked why: only another try tells. */
function mayBeBroken(fetched: FetchResult, url: string, { commits }: Wanted, tries: number): boolean {
  const triesMax = commits ? workerLimits.goneFetchTriesMax : workerLimits.brokenFetchTriesMax
  return fetched.kind === 'failed' && fetched.reason === 'other' && /^https?:/.test(url) && tries < triesMax
}

/** A token that can only read this repository's contents, minted when git asks for it; none for a local folder. */
function readCredential({ id: taskId, attempt, accepted, ports }: Task): (() => Promise<string>) | null {
  const { github } = ports
  const { installationId } = accepted
  if (github === null || installationId === null) return null
  const request = {
    installationId,
    repositoryId: accepted.repository.id,
    permissions: { contents: 'read' },
    for: { taskId, attempt },
  } as const
  return async () => (await github.mint(request)).token
}
