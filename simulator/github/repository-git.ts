import { execFile } from 'node:child_process'
import { join } from 'node:path'

/** Longest single git call of the fake on its own repositories, in milliseconds. */
const gitCallMs = 60_000
/** Largest output of such a call, in bytes. */
const gitOutputBytesMax = 256 * 1024 * 1024

export type GitResult = { exitCode: number; stdout: Buffer; stderr: string }

/**
 * Git on one of the fake's bare repositories. The environment is ours alone: a developer's own git configuration must not
 * change what the fake answers.
 */
export function runGit(
  folder: string,
  args: readonly string[],
  options: { env?: Record<string, string>; input?: Buffer | string } = {},
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...args],
      {
        cwd: folder,
        env: { ...gitEnvironment(folder), ...options.env },
        encoding: 'buffer',
        timeout: gitCallMs,
        maxBuffer: gitOutputBytesMax,
      },
      (error, stdout, stderr) => {
        const code = error ? error.code : 0
        if (typeof code !== 'number') reject(new Error(`git ${args[0]} did not run in ${folder}`, { cause: error }))
        else resolve({ exitCode: code, stdout, stderr: stderr.toString() })
      },
    )
    // Git may end without reading its input; that is its answer, not an error of ours.
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.input ?? '')
  })
}

/** As `runGit`, for calls that can only fail by a bug; answers the trimmed output. */
export async function git(folder: string, args: readonly string[], options: Parameters<typeof runGit>[2] = {}): Promise<string> {
  const result = await runGit(folder, args, options)
  if (result.exitCode !== 0) throw new Error(`git ${args.join(' ')} failed in ${folder}: ${result.stderr}`)
  return result.stdout.toString().trim()
}

export function gitEnvironment(folder: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    // Written by the fake beside its repositories; its only use is to trust folders of another owner.
    GIT_CONFIG_GLOBAL: join(folder, '..', '..', '..', 'gitconfig'),
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Simulator',
    GIT_AUTHOR_EMAIL: 'simulator@users.noreply.localhost',
    GIT_COMMITTER_NAME: 'Simulator',
    GIT_COMMITTER_EMAIL: 'simulator@users.noreply.localhost',
  }
}

export async function resolveCommit(folder: string, name: string): Promise<string | null> {
  const result = await runGit(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
  return result.exitCode === 0 ? result.stdout.toString().trim() : null
}

export async function readRef(folder: string, ref: string): Promise<string | null> {
  const result = await runGit(folder, ['for-each-ref', '--format=%(objectname) %(refname)', ref])
  const line = result.stdout
    .toString()
    .split('\n')
    .find(each => each.endsWith(` ${ref}`))
  return line?.split(' ')[0] ?? null
}

export type Ref = { ref: string; sha: string; type: string }

/** All refs that start with this prefix, by name. */
export async function listRefs(folder: string, prefix: string): Promise<Ref[]> {
  const output = await git(folder, ['for-each-ref', '--format=%(objectname) %(objecttype) %(refname)'])
  return output
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [sha = '', type = '', ...rest] = line.split(' ')
      return { ref: rest.join(' '), sha, type }
    })
    .filter(each => each.ref.startsWith(prefix))
}
