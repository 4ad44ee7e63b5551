import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import type { OperatorConfig } from '../config-schema/index.ts'
import { type PublicKey, publicKeyOf, readPublicKey } from '../domain/index.ts'
import { registerSecret } from '../telemetry/index.ts'
import { workerLimits } from './limits.ts'
import type { Signer } from './ports.ts'

export type SignerOptions = {
  dataDir: string
  /** PEM of an Ed25519 private key (`GROKBOT_SIGNING_KEY`). */
  environmentKey?: string | undefined
  command?: OperatorConfig['signing']
}

export type SignerOpened = { kind: 'ready'; signer: Signer } | { kind: 'unusable'; reason: string }

const signatureBytes = 64

/**
 * The installation's signer: the operator's command, else the environment's key, else the file `keys/signing.pem`, which
 * is made at its first use. Its public key is published beside all earlier ones, so that old bundles can still be
 * checked after a rotation (a new key is a new file there).
 */
export function openSigner({ dataDir, environmentKey, command }: SignerOptions): SignerOpened {
  const opened = command ? commandSigner(command) : keySigner(environmentKey ? readKey(environmentKey) : readOrMakeKeyFile(dataDir))
  if (opened.kind === 'ready') publish(dataDir, opened.signer)
  return opened
}

export function publicKeysFolder(dataDir: string): string {
  return path.join(dataDir, 'keys', 'public')
}

function keySigner(key: KeyObject | string): SignerOpened {
  if (typeof key === 'string') return { kind: 'unusable', reason: key }
  registerSecret(key.export({ format: 'pem', type: 'pkcs8' }).toString())
  const signer = signerOf(publicKeyOf(createPublicKey(key)), async bytes => sign(null, bytes, key))
  return { kind: 'ready', signer }
}

function signerOf({ keyId, key }: PublicKey, signBytes: Signer['sign']): Signer {
  return { keyId, publicKeyPem: key.export({ format: 'pem', type: 'spki' }).toString(), sign: signBytes }
}

/** The key, or why it is none. OpenSSL's words are not repeated: they could hold a part of what was read. */
function readKey(pem: string): KeyObject | string {
  try {
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'))
    return key.asymmetricKeyType === 'ed25519' ? key : `the signing key is ${key.asymmetricKeyType}, and must be ed25519`
  } catch {
    return 'the signing key is not a private key in PEM'
  }
}

function readOrMakeKeyFile(dataDir: string): KeyObject | string {
  const folder = path.join(dataDir, 'keys')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, 'signing.pem')
  return readKey(readIfThere(file) ?? makeKeyFile(file))
}

/** Written aside, then linked into place: of two processes that start at once both read the one whole key. */
function makeKeyFile(file: string): string {
  const part = `${file}.${process.pid}.part`
  rmSync(part, { force: true })
  const fd = openSync(part, 'wx', 0o600)
  try {
    writeFileSync(fd, generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  try {
    linkSync(part, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(part)
  }
  return readFileSync(file, 'utf8')
}

function commandSigner({ command, publicKey }: NonNullable<SignerOptions['command']>): SignerOpened {
  const pem = readIfThere(publicKey)
  if (pem === null) return { kind: 'unusable', reason: `signing.publicKey names ${publicKey}, which is not there` }
  const key = readPublicKey(pem)
  if (key === null) return { kind: 'unusable', reason: `signing.publicKey: ${publicKey} is no Ed25519 public key in PEM` }
  return { kind: 'ready', signer: signerOf(key, bytes => runCommand(command, bytes)) }
}

/** Throws when the command fails: the bundle is then written unsigned, and says so. */
async function runCommand([file = '', ...argv]: readonly string[], bytes: Uint8Array): Promise<Uint8Array> {
  const { stdout } = await execa(file, argv, {
    input: bytes,
    encoding: 'buffer',
    stderr: 'ignore',
    timeout: workerLimits.signerWallMs,
    killSignal: 'SIGKILL',
    killDescendants: true,
    maxBuffer: workerLimits.signerOutputBytesMax,
  })
  if (stdout.length === signatureBytes) return stdout
  const decoded = Buffer.from(Buffer.from(stdout).toString('latin1').trim(), 'base64')
  if (decoded.length !== signatureBytes)
    throw new Error(`the signing command printed ${stdout.length} bytes, which is no Ed25519 signature`)
  return decoded
}

function publish(dataDir: string, { keyId, publicKeyPem }: Signer): void {
  const folder = publicKeysFolder(dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const file = path.join(folder, `${keyId}.pem`)
  if (readIfThere(file) === publicKeyPem) return
  writeFileSync(`${file}.part`, publicKeyPem, { mode: 0o644 })
  renameSync(`${file}.part`, file)
}

/** A file larger than any key is not read: it gives no text, and so no key. */
function readIfThere(file: string): string | null {
  try {
    return statSync(file).size > workerLimits.keyFileBytesMax ? '' : readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
