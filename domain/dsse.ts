import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import * as z from 'zod'

/**
 * DSSE 1.0 (github.com/secure-systems-lab/dsse) with one Ed25519 signature. What is signed is the pre-authentication
 * encoding, so that a signature over one payload type can not be taken for one over another. Why this is own code:
 * docs/adr/0006-dsse.md.
 */
export const DsseEnvelope = z.strictObject({
  payload: z.string(),
  payloadType: z.string(),
  signatures: z.array(z.strictObject({ keyid: z.string(), sig: z.string() })).length(1),
})
export type DsseEnvelope = z.infer<typeof DsseEnvelope>

/** "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body; lengths are bytes, in decimal. */
export function preAuthEncoding(payloadType: string, body: Uint8Array): Buffer {
  const type = Buffer.from(payloadType, 'utf8')
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${body.length} `), body])
}

export function sealEnvelope(payloadType: string, body: Uint8Array, keyId: string, signature: Uint8Array): DsseEnvelope {
  const signatures = [{ keyid: keyId, sig: Buffer.from(signature).toString('base64') }]
  return { payload: Buffer.from(body).toString('base64'), payloadType, signatures }
}

/** A public key as it is published and embedded: its id is the SHA-256 of its DER form (SPKI). */
export type PublicKey = { keyId: string; spki: Buffer; key: KeyObject }

/** Null: the text (PEM) or the bytes (exactly its DER form) are no Ed25519 public key. */
export function readPublicKey(from: string | Uint8Array): PublicKey | null {
  try {
    const read = publicKeyOf(createPublicKey(typeof from === 'string' ? from : { key: Buffer.from(from), format: 'der', type: 'spki' }))
    const exact = typeof from === 'string' || read.spki.equals(from)
    return exact && read.key.asymmetricKeyType === 'ed25519' ? read : null
  } catch {
    // OpenSSL's reasons differ by version; all of them mean that this is not a key we can use.
    return null
  }
}

export function publicKeyOf(key: KeyObject): PublicKey {
  const spki = key.export({ format: 'der', type: 'spki' })
  return { keyId: createHash('sha256').update(spki).digest('hex'), spki, key }
}

export function verifySignature(signed: Uint8Array, signature: Uint8Array, { key }: PublicKey): boolean {
  return verify(null, signed, key, signature)
}

/** The bytes of canonical base64, or null: other spellings of the same bytes would let a file change and still pass. */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}
