import { createPrivateKey } from 'node:crypto'
import type { Environment } from '../config-schema/index.ts'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'
import { readNamed } from './read-named.ts'

/** Where GitHub is when no server of one's own is named. */
export const gitHubUrl = 'https://api.github.com'

/** The App of this installation. Throws `UsageError` naming every variable that is missing. */
export function appSettings(environment: Environment) {
  const missing = (['APP_ID', 'WEBHOOK_SECRET'] as const).filter(name => !environment[name]?.trim())
  const privateKey =
    environment.PRIVATE_KEY?.replaceAll('\\n', '\n') ??
    (environment.PRIVATE_KEY_PATH ? readNamed(environment.PRIVATE_KEY_PATH, { by: 'PRIVATE_KEY_PATH' }).toString('utf8') : undefined)
  if (missing.length > 0 || !privateKey) {
    throw new UsageError(
      'app-not-configured',
      'the GitHub App is not configured',
      [...missing, ...(privateKey ? [] : ['PRIVATE_KEY or PRIVATE_KEY_PATH'])].map(name => `set ${name}`),
    )
  }
  const appId = environment.APP_ID?.trim() ?? ''
  if (!appIdForm.test(appId)) {
    throw new UsageError('environment-invalid', `APP_ID is no id of a GitHub App: ${escapeText(appId)}`, [
      'it is a number, or a client id, which begins with Iv; the settings of the App on GitHub show both',
    ])
  }
  if (!isRsaKey(privateKey)) {
    const source = environment.PRIVATE_KEY ? 'PRIVATE_KEY' : `PRIVATE_KEY_PATH: ${escapeText(environment.PRIVATE_KEY_PATH ?? '')}`
    throw new UsageError('app-key-invalid', `${source} is no RSA private key`)
  }
  return {
    apiUrl: environment.GHE_API_URL ?? gitHubUrl,
    appId,
    privateKey,
    webhookSecret: environment.WEBHOOK_SECRET ?? '',
  }
}

/** GitHub takes either in a signature of the App, and refuses every other text only when it is first asked. */
const appIdForm = /^(?:[1-9]\d*|Iv[\w.]+)$/

/** GitHub makes no other kind. Without this the first sign of a wrong one would be a token that can not be made, long after the start. */
function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

/** Required in production: a public App would otherwise spend the operator's money for anybody who installs it. */
export function allowedOwners(environment: Environment): string[] | null {
  if (environment.ALLOWED_OWNERS) {
    const owners = environment.ALLOWED_OWNERS.split(',').map(owner => owner.trim().toLowerCase())
    // One that names nobody is a mistake, and must not be taken for one that was not set.
    if (!owners.some(Boolean)) throw new UsageError('owners-empty', 'ALLOWED_OWNERS names nobody')
    return owners.filter(Boolean)
  }
  if (environment.NODE_ENV === 'production') throw new UsageError('owners-unset', 'ALLOWED_OWNERS is not set')
  return null
}

export function redisUrl(environment: Environment): string {
  if (environment.REDIS_URL) return environment.REDIS_URL
  throw new UsageError('redis-unset', 'REDIS_URL is not set')
}

export function portOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const port = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError('option-value', `--port is a number from 0 to 65535, not ${escapeText(text)}`)
}

/** Resolves at SIGTERM or SIGINT. Listeners that stay: a library that tidies up after children ends the process itself once no other is left. */
export function told(): Promise<void> {
  return new Promise<void>(stop => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop())
  })
}
