import { explainRemote } from './explain-remote.ts'
import type { PushRefusal, PushResult, Remote, RemoteFault, Store } from './git.ts'
import { gitLimits } from './limits.ts'
import { checkRefName, checkSha } from './ref-name.ts'
import { openRemote } from './remote-call.ts'
import { type GitCall, type GitResult, gitError, runGit } from './run-git.ts'

export type PushOptions = Remote & {
  store: Store
  sha: string
  /** A full ref of the remote. */
  ref: string
  /** What the ref is at now; null = it must not exist. Anything else there, and nothing is pushed. */
  expect: string | null
  /** One push from its start to its answer; the mirror's own when not said. */
  wallMs?: number
  /** Only for branches of our own: a commit that does not continue `expect` may replace it. Others only fast-forward. */
  rewrite?: boolean
}

/**
 * Pushes one commit to one ref under a lease, then reads the ref back: what the remote has decides, not what git printed.
 */
export async function pushCommit(options: PushOptions): Promise<PushResult> {
  const { store, expect } = options
  const sha = checkSha(options.sha)
  const ref = checkRefName(options.ref)
  if (expect !== null && !options.rewrite && !(await isAncestor(store, checkSha(expect), sha))) {
    const message = `${sha} does not continue ${expect}, and ${ref} only fast-forwards`
    const now = await readRemoteRef({ ...options, ref, wallMs: gitLimits.readBackWallMs })
    if (now.kind === 'failed')
      return { kind: 'rejected', reason: 'other', message: `${message}; ${now.message}`, said: '', remoteSha: null }
    return { kind: 'rejected', reason: 'moved', message, said: '', remoteSha: now.sha }
  }
  const remote = await openRemote(options)
  const call = {
    gitDir: store.path,
    argv: [
      'push',
      '--porcelain',
      '--no-verify',
      '--no-follow-tags',
      '--recurse-submodules=no',
      '--no-signed',
      `--force-with-lease=${ref}:${expect ?? ''}`,
      '--end-of-options',
      remote.url,
      `${sha}:${ref}`,
    ],
    env: remote.env,
    secrets: remote.secrets,
    wallMs: options.wallMs ?? store.mirror.wallMs,
    signal: options.signal,
  }
  const result = await runGit(call)
  // Whoever stopped it does not wait for an answer either; the ref is read by whoever goes on with it.
  if (result.ended === 'cancelled') return { kind: 'unknown', message: gitError(call, result).message }
  const remoteRef = await readRemoteRef({ ...options, ref, wallMs: gitLimits.readBackWallMs })
  if (remoteRef.kind === 'failed') return { kind: 'unknown', message: remoteRef.message }
  if (remoteRef.sha === sha) return { kind: 'pushed', remoteSha: sha }
  const row = parsePorcelain(result.stdout, ref)
  // Taken, as far as it says, and somebody may have pushed on top of it by now: the branch's history knows.
  if (row && row.flag !== '!' && remoteRef.sha !== expect) return { kind: 'unknown', message: `${ref} is at ${remoteRef.sha} by now` }
  if (row && !row.summary.startsWith(noReport)) {
    const said = reasonIn(row, result.stderr)
    const { reason, message } = classify(row, remoteRef.sha, expect)
    const narrowed = reason === 'protected' && wantsSignatures(result.stderr) ? 'unsigned' : reason
    return { kind: 'rejected', reason: narrowed, message, said, remoteSha: remoteRef.sha }
  }
  return await explainSilence(options, remoteRef.sha, call, result)
}

/**
 * The remote said nothing about our ref. Only where it lets nobody in is that a refusal; after a time-out, a server error
 * or a broken connection it may still be taking the pack, so that the ref read a moment ago proves nothing.
 */
async function explainSilence(options: PushOptions, remoteSha: string | null, call: GitCall, result: GitResult): Promise<PushResult> {
  const fault = await explainRemote(options, 'git-receive-pack', [], result.ended, gitError(call, result).message)
  if (fault.kind !== 'failed' || (fault.reason !== 'denied' && fault.reason !== 'not-found'))
    return { kind: 'unknown', message: fault.message }
  return { kind: 'rejected', reason: 'denied', message: fault.message, said: prose(result.stderr).join(' '), remoteSha }
}

export type RemoteRef = { kind: 'read'; sha: string | null } | RemoteFault

/** Asks the remote itself; null = there is no such ref. */
export async function readRemoteRef(options: Remote & { ref: string; wallMs?: number }): Promise<RemoteRef> {
  const ref = checkRefName(options.ref)
  const remote = await openRemote(options)
  const call = {
    argv: ['ls-remote', '--quiet', '--end-of-options', remote.url, ref],
    env: remote.env,
    secrets: remote.secrets,
    wallMs: options.wallMs ?? gitLimits.readBackWallMs,
    signal: options.signal,
  }
  const result = await runGit(call)
  if (result.exitCode !== 0) {
    const fault = await explainRemote(options, 'git-upload-pack', [], result.ended, gitError(call, result).message)
    return fault.kind === 'failed' ? fault : { kind: 'failed', reason: 'other', message: fault.message }
  }
  for (const line of result.stdout.toString('utf8').split('\n')) {
    const [sha, name] = line.split('\t')
    // ls-remote matches by the end of a name; only the very ref counts.
    if (name === ref && sha) return { kind: 'read', sha }
  }
  return { kind: 'read', sha: null }
}

async function isAncestor(store: Store, older: string, newer: string): Promise<boolean> {
  const argv = ['merge-base', '--is-ancestor', older, newer]
  return (await runGit({ gitDir: store.path, argv, wallMs: store.mirror.wallMs })).exitCode === 0
}

/** Git's own word for an answer that ended before it named the ref. */
const noReport = '[remote failure]'

type PushRow = { flag: string; summary: string }

/** `<flag>\t<from>:<to>\t<summary>` (git-push, --porcelain); the row of our ref, or null when git got no answer for it. */
function parsePorcelain(stdout: Buffer, ref: string): PushRow | null {
  for (const line of stdout.toString('utf8').split('\n')) {
    const [flag, refs, summary] = line.split('\t')
    if (flag !== undefined && summary !== undefined && refs?.endsWith(`:${ref}`)) return { flag, summary }
  }
  return null
}

/**
 * The porcelain summary of a refused ref is `[remote rejected] (<reason>)` with the reason from the server's protocol
 * answer, or `[rejected] (<reason>)` from git's own closed list. The first pattern that fits names the class; a remote
 * that is not where it was expected has moved, whatever it says.
 */
function classify(row: PushRow, remoteSha: string | null, expect: string | null): { reason: PushRefusal; message: string } {
  if (remoteSha !== expect) return { reason: 'moved', message: row.summary }
  if (row.summary.startsWith('[rejected]')) return { reason: 'moved', message: row.summary }
  const reason = remoteReasons.find(([pattern]) => pattern.test(row.summary))?.[1] ?? 'other'
  return { reason, message: row.summary }
}

/**
 * Why, in the remote's own words: what it printed from its first error on (GH006, GH013 and their like stand there with the
 * rule that was broken), else the reason of the protocol. For people only.
 */
function reasonIn({ summary }: PushRow, stderr: string): string {
  const lines = prose(stderr)
  const from = lines.findIndex(line => line.startsWith('error: '))
  if (from === -1) return /^\[remote rejected\] \((.*)\)$/s.exec(summary)?.[1] ?? ''
  return lines
    .slice(from)
    .map(line => line.replace(/^error: /, ''))
    .join(' ')
}

/**
 * GitHub's line for the rule, which stands in its prose alone. Asked only of a ref that is refused for its rules, and what
 * comes of a mistake is one more refusal: whoever makes the commit another way is held to the same rules.
 */
function wantsSignatures(stderr: string): boolean {
  return prose(stderr).some(line => /^(?:error: |- )?Commits must have verified signatures\.?$/.test(line))
}

/** The lines that git passes on as the remote's. Cut: a server may print any amount. */
function prose(stderr: string): string[] {
  const lines = stderr.split(/[\r\n]+/).filter(line => line.startsWith('remote: '))
  const said = lines
    .map(line =>
      line
        .slice('remote: '.length)
        .replace(/\p{Cc}/gu, ' ')
        .trim(),
    )
    .filter(line => line !== '')
  // Git's own word on the other side, which says nothing of why.
  const why = said.filter(line => !line.startsWith('error: hook declined to update '))
  return why.slice(0, gitLimits.remoteLinesMax).map(line => line.slice(0, gitLimits.remoteLineCharactersMax))
}

/**
 * What GitHub puts into a refused ref's protocol answer (not what it prints beside it). There is no code to go by; an
 * answer that fits no row is `other`, which is delivered by a lower rung all the same.
 */
const remoteReasons: readonly (readonly [RegExp, PushRefusal])[] = [
  [/without `workflows?` (permission|scope)/, 'workflows'],
  [/protected branch hook declined|repository rule violations|locked branch/, 'protected'],
  [/permission|not allowed|denied|prohibited|hidden ref|privacy restrictions/, 'denied'],
]
