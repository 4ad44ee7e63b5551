import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/rest'
import { afterAll, beforeAll, expect } from 'vitest'
import { type FakeGitHub, type Permissions, type Simulator, startSimulator } from '../../simulator/index.ts'
import { exchangeFindings, type Finding } from './official-description.ts'

/** One simulator for a test file, with `octo/hello`, its owner `octo` and the maintainer `maria`. */
export function useSimulator() {
  const held = {} as { simulator: Simulator; scratch: string }
  let findings: Finding[] = []
  beforeAll(async () => {
    held.simulator = await startSimulator()
    findings = judge(held.simulator.github)
    held.scratch = await mkdtemp(join(tmpdir(), 'simulator-test-'))
    await held.simulator.github.addRepository({ owner: 'octo', name: 'hello', defaultBranch: 'trunk' })
    held.simulator.github.setPermission('octo/hello', 'maria', 'write')
  })
  afterAll(async () => {
    await held.simulator?.close()
    // Git looks after a clone in the background when it has fetched much.
    if (held.scratch) await rm(held.scratch, { recursive: true, force: true, maxRetries: 5 })
    expect(findings).toEqual([])
  })
  return {
    get github() {
      return held.simulator.github
    },
    get model() {
      return held.simulator.model
    },
    get scratch() {
      return held.scratch
    },
  }
}

/** From now on what is not as GitHub describes it is added to the list: to be found empty at the end. */
export function judge(github: FakeGitHub): Finding[] {
  const findings: Finding[] = []
  github.observe(exchange => findings.push(...exchangeFindings(exchange)))
  return findings
}

/** Mints with the real auth package, as the product does. */
export async function mint(
  github: FakeGitHub,
  owner: string,
  options: { permissions?: Permissions; repositoryNames?: string[] } = {},
): Promise<string> {
  const request = new Octokit({ baseUrl: github.url, log: silent }).request
  const auth = createAppAuth({ appId: github.appId, privateKey: github.appPrivateKey, request })
  const { token } = await auth({ type: 'installation', installationId: github.installation(owner).id, refresh: true, ...options })
  return token
}

/** What the App itself asks with. */
export async function mintJwt(github: FakeGitHub): Promise<string> {
  return (await createAppAuth({ appId: github.appId, privateKey: github.appPrivateKey })({ type: 'app' })).token
}

export const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export function octokit(github: FakeGitHub, auth: string): Octokit {
  return new Octokit({ baseUrl: github.url, auth, log: silent })
}

/** Status and message of a refused request, or its status and data. */
export async function outcome(work: Promise<{ status: number; data: unknown }>): Promise<{ status: number; data: unknown }> {
  try {
    const { status, data } = await work
    return { status, data }
  } catch (error) {
    const { status, response } = error as { status: number; response?: { data: unknown } }
    return { status, data: response?.data }
  }
}

export type Ran = { exitCode: number; stdout: string; stderr: string }

/** Real git with nobody's configuration. */
export function git(cwd: string, args: string[], token?: string, env: Record<string, string> = {}, input = ''): Promise<Ran> {
  const header = token ? ['-c', `http.extraHeader=Authorization: basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`] : []
  return new Promise(resolve => {
    const child = execFile(
      'git',
      [...header, ...args],
      {
        cwd,
        maxBuffer: 1 << 26,
        env: {
          PATH: process.env.PATH ?? '',
          HOME: cwd,
          LC_ALL: 'C',
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_TERMINAL_PROMPT: '0',
          ...person,
          ...env,
        },
      },
      (error, stdout, stderr) => resolve({ exitCode: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    )
    // Git may be gone before it has read anything.
    child.stdin?.on('error', () => {}).end(input)
  })
}

const person = {
  GIT_AUTHOR_NAME: 'maria',
  GIT_AUTHOR_EMAIL: 'm@example.org',
  GIT_COMMITTER_NAME: 'maria',
  GIT_COMMITTER_EMAIL: 'm@example.org',
}
