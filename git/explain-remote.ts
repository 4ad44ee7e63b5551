import type { Remote, RemoteFault } from './git.ts'
import { gitLimits } from './limits.ts'
import { openRemote } from './remote-call.ts'
import { type GitResult, runGit } from './run-git.ts'

export type Refusal = RemoteFault | { kind: 'ref-missing'; ref: string; message: string }

/**
 * Says why a remote gave nothing without reading git's prose: a web remote is asked once more for its service's first
 * answer, whose HTTP status tells; then the refs are listed to see whether one of ours is missing.
 */
export async function explainRemote(
  remote: Remote,
  service: 'git-upload-pack' | 'git-receive-pack',
  refs: readonly string[],
  ended: GitResult['ended'],
  message: string,
): Promise<Refusal> {
  if (ended === 'timed-out' || ended === 'cancelled') return { kind: 'failed', reason: ended, message }
  const reason = await probe(remote, service)
  if (reason !== null) return { kind: 'failed', reason, message }
  const missing = await findMissing(remote, refs)
  if (missing !== null) return { kind: 'ref-missing', ref: missing, message: `the repository has no ${missing}` }
  return { kind: 'failed', reason: 'other', message }
}

async function probe(remote: Remote, service: string): Promise<RemoteFault['reason'] | null> {
  if (!/^https?:/.test(remote.url)) return null
  const { token } = await openRemote(remote)
  const basic = token === null ? {} : { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` }
  try {
    const response = await fetch(`${remote.url.replace(/\/$/, '')}/info/refs?service=${service}`, {
      headers: basic,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(gitLimits.probeWallMs), ...(remote.signal ? [remote.signal] : [])]),
    })
    await response.body?.cancel()
    const { status, headers } = response
    // A rate limit passes: it is no denial, whatever status it comes with.
    if (status === 429 || status === 408 || status >= 500 || headers.has('retry-after')) return 'unreachable'
    if (status === 401 || status === 403) return 'denied'
    return status === 404 || status === 410 ? 'not-found' : null
  } catch {
    return 'unreachable'
  }
}

async function findMissing(remote: Remote, refs: readonly string[]): Promise<string | null> {
  if (refs.length === 0) return null
  const { url, env, secrets } = await openRemote(remote)
  const result = await runGit({ argv: ['ls-remote', '--end-of-options', url], env, secrets, wallMs: gitLimits.probeWallMs })
  if (result.exitCode !== 0) return null
  const listed = new Set(
    result.stdout
      .toString('utf8')
      .split('\n')
      .map(line => line.split('\t')[1]),
  )
  return refs.find(ref => !listed.has(ref)) ?? null
}
