import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { type PublicKey, readPublicKey } from '../domain/index.ts'
import { causeWords } from './cause-words.ts'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'
import { notRead } from './read-named.ts'

const keysBytesMax = 1_048_576
const keysFilesMax = 1_000
const fetchMs = 10_000

/**
 * Whom to trust, as the caller names it: a file with one or more public keys in PEM, also within JSON as an installation
 * publishes them, a folder of such files (as the data folder's `keys/public`), or a URL of such a file. Nothing usable in
 * it is the caller's mistake, never "no keys".
 */
export async function readKeys(from: string): Promise<PublicKey[]> {
  const text = /^https?:\/\//i.test(from) ? await fetchText(from) : readText(from)
  // In JSON the ends of lines are written out.
  const blocks = text.replaceAll('\\n', '\n').match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? []
  const keys = blocks.map(readPublicKey).filter(key => key !== null)
  if (keys.length > 0) return keys
  throw new UsageError('public-key-missing', `${escapeText(from)} holds no Ed25519 public key in PEM`)
}

function readText(from: string): string {
  try {
    const stat = statSync(from)
    if (!stat.isDirectory()) return readOne(from, stat.size)
    const names = readdirSync(from).filter(name => name.endsWith('.pem'))
    return names
      .slice(0, keysFilesMax)
      .map(name => readOne(path.join(from, name), statSync(path.join(from, name)).size))
      .join('\n')
  } catch (error) {
    throw notRead(error, from)
  }
}

function readOne(file: string, bytes: number): string {
  if (bytes > keysBytesMax) throw new UsageError('file-too-large', `${escapeText(file)} has more than ${keysBytesMax} bytes`)
  return readFileSync(file, 'utf8')
}

/** Over https, so that nobody on the way can swap the keys; plain http only to this machine. */
async function fetchText(url: string): Promise<string> {
  const { protocol, hostname } = parseUrl(url)
  if (protocol !== 'https:' && !['127.0.0.1', '[::1]', 'localhost'].includes(hostname)) {
    throw new UsageError('keys-over-http', 'keys are fetched over https only')
  }
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(fetchMs) })
    if (!response.ok) throw new UsageError('keys-unreachable', `${escapeText(url)} answers ${response.status}`)
    return await readBody(response)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError('keys-unreachable', `${escapeText(url)} can not be read: ${escapeText(causeWords(error))}`)
  }
}

async function readBody({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > keysBytesMax) throw new UsageError('file-too-large', `the keys have more than ${keysBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new UsageError('option-value', `${escapeText(text)} is no URL`)
  return new URL(text)
}
