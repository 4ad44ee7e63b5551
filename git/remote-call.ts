import { entryPath } from '../entries.ts'
import type { Remote } from './git.ts'

/** The only names of the operator's environment that reach a git process that talks to a remote. */
export const remoteEnvironmentNames = [
  'HTTPS_PROXY',
  'https_proxy',
  'HTTP_PROXY',
  'http_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
] as const

const helper = entryPath('credentialHelper')

export type RemoteCall = { url: string; env: Record<string, string>; secrets: string[]; token: string | null }

/**
 * What one git process needs to talk to a remote. The token is in that process's environment alone: in no argument, URL,
 * file or message. The helper gives it to the remote's own origin only.
 */
export async function openRemote(remote: Remote): Promise<RemoteCall> {
  const url = checkedUrl(remote.url)
  const env: Record<string, string> = {}
  for (const name of remoteEnvironmentNames) {
    const value = remote.environment?.[name]
    if (value !== undefined) env[name] = value
  }
  if (!remote.credential || url.origin === null) return { url: url.text, env, secrets: [], token: null }
  const token = await remote.credential()
  if (/[\r\n\0]/.test(token) || token === '') throw new Error('a git credential must be one line of text')
  const settings = [
    ['credential.helper', ''],
    ['credential.helper', `!sh ${shellWord(helper)}`],
  ] as const
  env.GIT_CONFIG_COUNT = String(settings.length)
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  }
  env.GROKBOT_GIT_TOKEN = token
  env.GROKBOT_GIT_ORIGIN = url.origin
  return { url: url.text, env, secrets: [token], token }
}

/** https, http and absolute local folders; anything else, and a URL with a user or password in it, is a bug of the caller. */
function checkedUrl(text: string): { text: string; origin: string | null } {
  if (text.startsWith('/')) return { text, origin: null }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new Error('a git URL must not hold a user or a password')
  if (url.protocol === 'file:') return { text, origin: null }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(`git is not allowed to use ${url.protocol}`)
  return { text, origin: url.origin }
}

/** Git hands a helper that starts with `!` to a shell; this is the one place where a word of ours is quoted for one. */
function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
