import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readPublicKey, verifySignature } from '../../domain/index.ts'
import { redact } from '../../telemetry/index.ts'
import type { Signer } from '../../worker/ports.ts'
import { openSigner, publicKeysFolder, type SignerOptions } from '../../worker/signer.ts'
import { fixedKey, fixedSigner, publicKey } from '../domain/bundle-scene.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'grokbot-signer-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const open = (options: Omit<SignerOptions, 'dataDir'> = {}): Signer => {
  const opened = openSigner({ dataDir, ...options })
  if (opened.kind === 'unusable') throw new Error(opened.reason)
  return opened.signer
}
const pemOf = (count: number) => fixedKey(count).export({ format: 'pem', type: 'pkcs8' }).toString()
const published = () => readdirSync(publicKeysFolder(dataDir)).sort()
const modeOf = (...parts: string[]) => (statSync(path.join(dataDir, ...parts)).mode & 0o777).toString(8)

async function signs(signer: Signer): Promise<boolean> {
  const bytes = Buffer.from('some bytes \u0000\n')
  const key = readPublicKey(signer.publicKeyPem)
  return key !== null && key.keyId === signer.keyId && verifySignature(bytes, await signer.sign(bytes), key)
}

describe('the key in the data folder', () => {
  it('is made at the first use, for nobody else to read, and is the same ever after', async () => {
    const first = open()
    expect(await signs(first)).toBe(true)
    expect([modeOf('keys'), modeOf('keys', 'signing.pem'), modeOf('keys', 'public', `${first.keyId}.pem`)]).toEqual(['700', '600', '644'])
    expect(open().keyId).toBe(first.keyId)
    expect(published()).toEqual([`${first.keyId}.pem`])
    expect(readdirSync(path.join(dataDir, 'keys')).sort()).toEqual(['public', 'signing.pem'])
  })
  it('is one key for processes that start at once', { timeout: 60_000 }, async () => {
    const script = path.join(import.meta.dirname, 'signer-process.ts')
    const runs = await Promise.all(Array.from({ length: 4 }, () => execa(process.execPath, [script, dataDir])))
    expect(new Set(runs.map(({ stdout }) => stdout))).toEqual(new Set([open().keyId]))
  })
  it('is published again when only its public half was lost', () => {
    const { keyId } = open()
    rmSync(publicKeysFolder(dataDir), { recursive: true })
    open()
    expect(published()).toEqual([`${keyId}.pem`])
  })
  it('is never replaced when it can not be read', () => {
    open()
    writeFileSync(path.join(dataDir, 'keys', 'signing.pem'), 'half a key')
    expect(openSigner({ dataDir })).toEqual({ kind: 'unusable', reason: 'the signing key is not a private key in PEM' })
    expect(readFileSync(path.join(dataDir, 'keys', 'signing.pem'), 'utf8')).toBe('half a key')
  })
})

describe('the key in the environment', () => {
  it('goes before the file, which is then not made', async () => {
    const signer = open({ environmentKey: pemOf(1) })
    expect([signer.keyId, await signs(signer)]).toEqual([publicKey(1).keyId, true])
    expect(existsSync(path.join(dataDir, 'keys', 'signing.pem'))).toBe(false)
  })
  it('may have its line ends written out, as hosts without multi-line variables need', async () => {
    expect(await signs(open({ environmentKey: pemOf(1).replaceAll('\n', '\\n') }))).toBe(true)
  })
  it('leaves the earlier public keys where they are when it is rotated', () => {
    for (const count of [1, 2, 3]) open({ environmentKey: pemOf(count) })
    expect(published()).toEqual([1, 2, 3].map(count => `${publicKey(count).keyId}.pem`).sort())
  })
  it('is never written to a log', () => {
    open({ environmentKey: pemOf(1) })
    expect(redact(`failed with ${pemOf(1)} in hand`)).not.toContain(pemOf(1).split('\n')[1])
  })
  it.each([
    ['text', 'secret-but-no-key', 'the signing key is not a private key in PEM'],
    ['a public key', fixedSigner(1).publicKeyPem, 'the signing key is not a private key in PEM'],
    [
      'an RSA key',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      'the signing key is rsa, and must be ed25519',
    ],
  ])('that is %s is refused without being repeated', (_, environmentKey, reason) => {
    expect(openSigner({ dataDir, environmentKey })).toEqual({ kind: 'unusable', reason })
    expect(existsSync(path.join(dataDir, 'keys'))).toBe(false)
  })
})

describe('the operator’s command', () => {
  /** A program that stands for a KMS client: what it does is the text of a script that has the key and the bytes. */
  function commandOf(does: string): NonNullable<SignerOptions['command']> {
    const script = path.join(dataDir, 'kms.mjs')
    writeFileSync(path.join(dataDir, 'private.pem'), pemOf(1))
    writeFileSync(path.join(dataDir, 'public.pem'), fixedSigner(1).publicKeyPem)
    writeFileSync(
      script,
      `import { createPrivateKey, sign } from 'node:crypto'\nimport { readFileSync } from 'node:fs'\nconst bytes = readFileSync(0)\nconst signature = sign(null, bytes, createPrivateKey(readFileSync(process.argv[2])))\n${does}\n`,
    )
    return { command: [process.execPath, script, path.join(dataDir, 'private.pem')], publicKey: path.join(dataDir, 'public.pem') }
  }
  it.each([
    ['raw', 'process.stdout.write(signature)'],
    ['in base64', "console.log(signature.toString('base64'))"],
    ['beside words on its standard error', "console.error('asking the KMS'); process.stdout.write(signature)"],
  ])('gets the bytes and prints the signature %s', async (_, does) => {
    const signer = open({ command: commandOf(does) })
    expect([signer.keyId, await signs(signer), published()]).toEqual([publicKey(1).keyId, true, [`${publicKey(1).keyId}.pem`]])
  })
  it.each([
    ['fails', 'process.exit(3)'],
    ['prints nothing', ''],
    ['prints half a signature', 'process.stdout.write(signature.subarray(0, 32))'],
    ['prints without end', "setInterval(() => process.stdout.write('x'.repeat(65_536)))"],
    ['prints the signature and fails', 'process.stdout.write(signature, () => process.exit(1))'],
  ])('that %s signs nothing', async (_, does) => {
    await expect(open({ command: commandOf(does) }).sign(Buffer.from('x'))).rejects.toThrow()
  })
  it('that does not exist signs nothing', async () => {
    const command = { ...commandOf(''), command: ['/nowhere/kms'] }
    await expect(open({ command }).sign(Buffer.from('x'))).rejects.toThrow()
  })
  it('is started without a shell', async () => {
    const trace = path.join(dataDir, 'trace')
    const command = { ...commandOf(''), command: [`touch ${trace};true`] }
    await expect(open({ command }).sign(Buffer.from('x'))).rejects.toThrow()
    expect(existsSync(trace)).toBe(false)
  })
  it.each([
    ['is not there', '/nowhere/public.pem', /is not there/],
    ['is none', process.execPath, /no Ed25519 public key/],
  ])('is refused when its public key %s', (_, file, reason) => {
    expect(openSigner({ dataDir, command: { command: ['true'], publicKey: file } })).toEqual({
      kind: 'unusable',
      reason: expect.stringMatching(reason),
    })
  })
})
