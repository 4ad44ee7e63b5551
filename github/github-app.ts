import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/rest'
import { registerSecret } from '../telemetry/index.ts'
import { createWritePace, type WritePace } from './write-pace.ts'

export type Permissions = Readonly<Record<string, 'read' | 'write'>>
export type TokenRequest = {
  installationId: number
  repositoryId: number
  permissions: Permissions
  /** The attempt that asks: a worker's tokens come from the app's process, which makes none without it. */
  for?: { taskId: string; attempt: number }
}
export type MintedToken = { token: string; expiresAt: string }

/** The App's identity and its mint: the only place that holds the App's private key. */
export type GitHubApp = {
  /** A token for one repository and the named permissions only. Throws `RequestError` when GitHub refuses or is away. */
  mint(request: TokenRequest): Promise<MintedToken>
  /** A client with a token; null = as the App itself. */
  api(token: string | null): Octokit
  /** Who our comments are from: `<slug>[bot]`. Read once. */
  identity(): Promise<{ id: number; slug: string; botLogin: string }>
  /** The turns of its installations to write, for everything of this process. */
  pace: WritePace
}

const attemptHeader = 'x-grokbot-attempt'

export type GitHubAppOptions = {
  apiUrl: string
  appId: string
  privateKey: string
  timeoutMs: number
  /** What turns to write go by, in milliseconds; not said: a clock that nobody sets. */
  now?: () => number
}

export function createGitHubApp(options: GitHubAppOptions): GitHubApp {
  registerSecret(options.privateKey)
  const asApp = new Octokit({
    ...clientOptions(options),
    authStrategy: createAppAuth,
    auth: { appId: options.appId, privateKey: options.privateKey },
  })
  let identity: Promise<{ id: number; slug: string; botLogin: string }> | null = null
  return {
    pace: createWritePace(options.now),
    async mint({ installationId, repositoryId, permissions, for: attempt }) {
      const { data } = await asApp.rest.apps.createInstallationAccessToken({
        installation_id: installationId,
        repository_ids: [repositoryId],
        permissions: { ...permissions },
        // Nothing to GitHub; in a log of what was sent it says which attempt wrote with this token.
        headers: attempt ? { [attemptHeader]: `${attempt.taskId}/${attempt.attempt}` } : {},
      })
      registerSecret(data.token, Date.parse(data.expires_at))
      return { token: data.token, expiresAt: data.expires_at }
    },
    api: token => (token === null ? asApp : createClient(options, token)),
    identity() {
      identity ??= asApp.rest.apps.getAuthenticated().then(({ data }) => {
        if (!data?.slug) throw new Error('GitHub did not name the App: its key or id is wrong')
        return { id: data.id, slug: data.slug, botLogin: `${data.slug}[bot]` }
      })
      identity.catch(() => {
        identity = null
      })
      return identity
    },
  }
}

export function createClient(options: Pick<GitHubAppOptions, 'apiUrl' | 'timeoutMs'>, token: string): Octokit {
  return new Octokit({ ...clientOptions(options), auth: token })
}

function clientOptions(options: Pick<GitHubAppOptions, 'apiUrl' | 'timeoutMs'>) {
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  // A write that got no answer is read back by the effects ledger, so the client itself never repeats one.
  return {
    baseUrl: options.apiUrl,
    userAgent: 'grokbot',
    log: quiet,
    request: { fetch: (url: string, init: RequestInit) => fetchWhole(url, init, options.timeoutMs) },
  }
}

/**
 * Octokit takes a body that was cut in the middle for an empty or partial answer with a good status: a list would read as
 * "nothing there", a made comment as one without id. So the whole body is read, and must be JSON, before it sees anything.
 */
async function fetchWhole(url: string, init: RequestInit, timeoutMs: number): Promise<Response> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  const { status, statusText, headers } = response
  const text = await response.text()
  if (text !== '' && /\bjson\b/.test(headers.get('content-type') ?? '')) JSON.parse(text)
  const whole = new Response(text === '' ? null : text, { status, statusText, headers })
  // One made by hand has no address, and Octokit reads from it which page of a list of objects it is.
  return Object.defineProperty(whole, 'url', { value: response.url })
}
