import { createPublicKey, randomInt, verify } from 'node:crypto'
import { type AuthRecord, fullName, type GitHubState, type Installation, type Permissions, type Repository, type Token } from './state.ts'

/** How long an App's JWT may live, and an installation token does, in seconds. */
const jwtLifeSecondsMax = 600
const tokenLifeSeconds = 3600
/** GitHub's clock and ours are one here, but a JWT carries whole seconds. */
const clockRoundingSeconds = 1

export type Credential =
  | { kind: 'none' }
  | { kind: 'app' }
  | { kind: 'token'; token: Token }
  /** 401 for all but an App that does not exist. */
  | { kind: 'bad'; status: number; message: string }

/** Reads `Authorization`: a JWT or a token, as bearer, `token`, or the password of basic authentication. */
export function readCredential(state: GitHubState, header: string | undefined): Credential {
  if (header === undefined) return { kind: 'none' }
  const [scheme = '', value = ''] = header.split(' ')
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return value.split('.').length === 3 ? verifyJwt(state, value) : findToken(state, value)
    case 'token':
      return findToken(state, value)
    case 'basic': {
      const text = Buffer.from(value, 'base64').toString()
      return findToken(state, text.slice(text.indexOf(':') + 1))
    }
    default:
      return { kind: 'bad', status: 401, message: 'Bad credentials' }
  }
}

function findToken(state: GitHubState, value: string): Credential {
  const token = state.tokens.get(value)
  if (!token || token.expiresAt <= state.now()) return { kind: 'bad', status: 401, message: 'Bad credentials' }
  return { kind: 'token', token }
}

const undecodable = 'A JSON web token could not be decoded'
const badExpiry = "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
const badIssue = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"

function verifyJwt(state: GitHubState, jwt: string): Credential {
  const bad = (message: string, status = 401): Credential => ({ kind: 'bad', status, message })
  const [head = '', body = '', signature = ''] = jwt.split('.')
  const header = decodePart(head)
  const claims = decodePart(body)
  if (!header || !claims || header.alg !== 'RS256') return bad(undecodable)
  const issuer = String(claims.iss)
  if (issuer !== String(state.app.id) && issuer !== state.app.clientId) return bad('Integration not found', 404)
  const key = createPublicKey(state.app.publicKey)
  if (!verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return bad(undecodable)
  const now = Math.floor(state.now() / 1000)
  const { exp, iat } = claims
  if (typeof exp !== 'number' || exp <= now) return bad(badExpiry)
  if (exp > now + jwtLifeSecondsMax + clockRoundingSeconds) return bad("'Expiration time' claim ('exp') is too far in the future")
  if (typeof iat !== 'number' || !Number.isInteger(iat) || iat > now + clockRoundingSeconds) return bad(badIssue)
  return { kind: 'app' }
}

function decodePart(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

export function mintToken(
  state: GitHubState,
  installation: Installation,
  permissions: Permissions,
  repositoryIds: Set<number> | null,
  attempt: string | null,
): { value: string; expiresAt: number } {
  const value = `ghs_${randomText(36)}`
  const actor = state.accounts.get(`${state.app.slug}[bot]`)
  if (!actor) throw new Error('the App has no bot account')
  const expiresAt = state.now() + tokenLifeSeconds * 1000
  state.tokens.set(value, { kind: 'installation', installation, permissions, repositoryIds, expiresAt, actor, attempt })
  return { value, expiresAt }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

export function recordCredential(state: GitHubState, credential: Credential): AuthRecord {
  if (credential.kind === 'none' || credential.kind === 'app') return { kind: credential.kind }
  if (credential.kind === 'bad') return { kind: 'bad', reason: credential.message }
  const { token } = credential
  if (token.kind === 'user') return { kind: 'user', login: token.actor.login }
  const ids = token.repositoryIds
  return {
    kind: 'installation',
    installationId: token.installation.id,
    permissions: { ...token.permissions },
    repositories:
      ids === null ? null : [...state.repositories.values()].filter(each => ids.has(each.id)).map((each: Repository) => fullName(each)),
  }
}
