import { type EffectPorts, type GitPort, noGit, sleepUnlessStopped } from '../effects/index.ts'
import { pushCommit, type RemoteRef, readChange, readRemoteRef } from '../git/index.ts'
import { workerLimits } from './limits.ts'
import type { Base, Task } from './task.ts'
import { fencedOrThrow } from './task-log.ts'
import { Unreachable } from './with-patience.ts'

/** What of a task its effects need. */
export type EffectTask = Pick<Task, 'id' | 'attempt' | 'accepted' | 'log' | 'ports' | 'settings' | 'stop'>

/** What the effects of one attempt are applied with: a fresh narrow token each, and the task's own store for pushes. */
export function effectPortsOf(task: EffectTask, base: Base | null): EffectPorts {
  const { github, ledger, markerKey, now } = task.ports
  if (github === null) throw new Error('effects need a GitHub App')
  return {
    record: events => task.log.record(...events).then(() => 'recorded' as const, fencedOrThrow),
    holds: () => ledger.holdsTask({ taskId: task.id, attempt: task.attempt }, now()),
    mint: async request => (await github.mint({ ...request, for: { taskId: task.id, attempt: task.attempt } })).token,
    api: token => github.api(token),
    botLogin: async () => (await github.identity()).botLogin,
    git: base ? gitPortOf(base, task.stop) : noGit('this task has no repository'),
    markerKey,
    sleep: ms => sleepUnlessStopped(ms, task.stop),
    readBackGapMs: task.settings.limits.readBackGapMs,
    writes: { pace: github.pace, limits: task.settings.limits },
  }
}

/** Where every effect of a task goes: its own repository. Throws for a task that has none on GitHub. */
export function placeOf({ accepted }: Pick<Task, 'accepted'>) {
  if (accepted.installationId === null) throw new Error('this task has no place on GitHub')
  const { owner, name, id } = accepted.repository
  return { owner, repo: name, repositoryId: id, installationId: accepted.installationId }
}

function gitPortOf(base: Base, stop: AbortSignal): GitPort {
  return {
    async push({ url, sha, branch, expect }, token) {
      const ref = `refs/heads/${branch}`
      const result = await pushCommit({ store: base.store, url, credential: async () => token, sha, ref, expect, signal: stop })
      if (result.kind === 'unknown') throw new Unreachable(`the push may or may not have arrived: ${result.message}`)
      if (result.kind === 'pushed') return { kind: 'pushed' }
      const { reason: refusal, message, said, remoteSha } = result
      return { kind: 'rejected', reason: `${refusal}: ${message}`, refusal, said, remoteSha }
    },
    readRef: readBranch(stop),
    async readChange({ signed }) {
      if (signed === undefined) return { kind: 'refused', reason: 'it is pushed by git' }
      const { signedFilesMax: filesMax, signedBytesMax: bytesMax } = workerLimits
      return await readChange(base.store, signed.parent, signed.tree, { filesMax, bytesMax })
    },
  }
}

/** Needs no store, so that a push can also be read back when its task's own repository is gone. */
export function readBranch(stop: AbortSignal): GitPort['readRef'] {
  return async ({ url, branch }, token) => {
    const ref = `refs/heads/${branch}`
    const result: RemoteRef = await readRemoteRef({ url, credential: async () => token, ref, signal: stop })
    if (result.kind === 'read') return result
    if (result.reason === 'denied' || result.reason === 'not-found') return { kind: 'refused', reason: result.message }
    throw new Unreachable(`the branch could not be read back: ${result.message}`)
  }
}
