import { type PublicKey, readPublicKey } from '../../domain/index.ts'
import { pagesLimits } from './limits.ts'

/**
 * Every public key this installation ever signed with, as a JSON Web Key Set (RFC 7517, RFC 8037). `kid` is the key id that
 * bundles name, the SHA-256 of the key's DER form; `pem` is the same key as `grokbot verify --keys` and OpenSSL read it.
 */
export function publishKeys(pems: readonly string[]): { keys: object[] } {
  const keys = pems.slice(0, pagesLimits.pageKeysMax).map(readPublicKey)
  return { keys: keys.filter(key => key !== null).map(toJwk) }
}

function toJwk({ keyId, key }: PublicKey): object {
  const { kty, crv, x } = key.export({ format: 'jwk' })
  return { kty, crv, x, kid: keyId, use: 'sig', alg: 'EdDSA', pem: key.export({ format: 'pem', type: 'spki' }).toString() }
}
