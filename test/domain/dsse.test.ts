import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { preAuthEncoding, readPublicKey, sealEnvelope, verifySignature } from '../../domain/index.ts'
import { fixedKey, fixedSigner, publicKey } from './bundle-scene.ts'

describe('the pre-authentication encoding', () => {
  it.each([
    // protocol.md of the DSSE specification, "Test Vectors".
    ['http://example.com/HelloWorld', 'hello world', 'DSSEv1 29 http://example.com/HelloWorld 11 hello world'],
    ['', '', 'DSSEv1 0  0 '],
    ['a', '', 'DSSEv1 1 a 0 '],
    // Lengths are bytes, not characters.
    ['tybé', '🚀', 'DSSEv1 5 tybé 4 🚀'],
  ])('of %j and %j is %j', (type, body, encoded) => {
    expect(preAuthEncoding(type, Buffer.from(body)).toString('utf8')).toBe(encoded)
  })
  it('never takes a part of the type for the body', () => {
    expect(preAuthEncoding('a 1 b', Buffer.from('c'))).not.toEqual(preAuthEncoding('a', Buffer.from('b 1 c')))
  })
})

describe('an envelope', () => {
  it('has the fields of the specification', async () => {
    const body = Buffer.from('{"a":1}')
    const signature = await fixedSigner(1).sign(preAuthEncoding('t', body))
    const { keyId } = publicKey(1)
    expect(sealEnvelope('t', body, keyId, signature)).toEqual({
      payload: 'eyJhIjoxfQ==',
      payloadType: 't',
      signatures: [{ keyid: keyId, sig: Buffer.from(signature).toString('base64') }],
    })
    expect(verifySignature(preAuthEncoding('t', body), signature, publicKey(1))).toBe(true)
    expect(verifySignature(preAuthEncoding('u', body), signature, publicKey(1))).toBe(false)
    expect(verifySignature(body, signature, publicKey(1))).toBe(false)
  })
})

describe('a public key', () => {
  it('has the SHA-256 of its DER form as its id, from PEM and from DER', () => {
    const { keyId, spki, key } = publicKey(1)
    expect(keyId).toBe('8baecd3d9b6d6fe33303e7d4eea6590a9e35cadb904da0fe48a815c5661457c0')
    expect(readPublicKey(key.export({ format: 'pem', type: 'spki' }).toString())?.keyId).toBe(keyId)
    expect(readPublicKey(spki)?.keyId).toBe(keyId)
  })
  it.each([
    ['text that is no key', 'hello'],
    ['an empty text', ''],
    ['bytes that are no key', Buffer.from('hello')],
    ['an RSA key', generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'pem', type: 'spki' }).toString()],
    ['an Ed448 key', generateKeyPairSync('ed448').publicKey.export({ format: 'der', type: 'spki' })],
    ['a key with a byte too many', Buffer.concat([publicKey(1).spki, Buffer.from([0])])],
  ])('is not read from %s', (_, from) => {
    expect(readPublicKey(from)).toBeNull()
  })
  it('is not a private key', () => {
    expect(publicKey(1).key.type).toBe('public')
    expect(fixedKey(1).type).toBe('private')
  })
})
