import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Environment } from '../config-schema/index.ts'
import { openSigner, type Signer, type WorkerSettings } from '../worker/index.ts'
import { UsageError } from './exit.ts'

const keyBytes = 32

/** Who signs the receipts of this installation. A key that is set but can not be used is an error: nobody wants it ignored. */
export function installationSigner(dataDir: string, environment: Environment, { operator }: WorkerSettings): Signer {
  const opened = openSigner({ dataDir, environmentKey: environment.GROKBOT_SIGNING_KEY, command: operator.signing })
  if (opened.kind === 'ready') return opened.signer
  throw new UsageError('signing-key-invalid', `receipts can not be signed: ${opened.reason}`, [
    'make a key: openssl genpkey -algorithm ed25519 -out signing.pem, then set GROKBOT_SIGNING_KEY to its text',
    'or set none: then a key is made in the data folder',
  ])
}

/** A secret of this installation, made at its first use: 0600, in a folder nobody else may list. */
export function readOrMakeKey(dataDir: string, name: string): Uint8Array {
  const folder = path.join(dataDir, 'keys')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, name)
  if (!existsSync(file)) makeKey(file)
  const key = readFileSync(file)
  if (key.length !== keyBytes) throw new Error(`${file} has ${key.length} bytes, not ${keyBytes}: restore it from a back-up`)
  return key
}

/**
 * Whole or not at all: of two processes that start at once one puts its key in place and both read it, and a disk that is
 * full leaves nothing that a later start would take for a key.
 */
function makeKey(file: string): void {
  const made = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(made, randomBytes(keyBytes), { flag: 'wx', mode: 0o600, flush: true })
    linkSync(made, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(made, { force: true })
  }
}

/** Known to every process of the installation, and to nobody else. */
export function mintSecret(dataDir: string): string {
  return Buffer.from(readOrMakeKey(dataDir, 'mint.key')).toString('hex')
}
