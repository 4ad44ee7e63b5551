import { sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type Bundle,
  type BundleFacts,
  type BundleSource,
  bundleLines,
  composeEntries,
  composeManifest,
  preAuthEncoding,
  sealEnvelope,
  statementOf,
  statementPayloadType,
} from '../../domain/index.ts'
import { fixedKey, publicKey } from './bundle-scene.ts'

type GoldenEntry = { header: BundleSource['entries'][number]['header']; salt: string; payload: string }

/** The bundles of the golden ledger's first task, made by today's code with a fixed key and version. */
const [ledger] = JSON.parse(readFileSync(path.join(import.meta.dirname, '..', 'golden', 'ledger-v1.json'), 'utf8')) as [
  { taskId: string; entries: GoldenEntry[] },
]
const entries = ledger.entries.map(({ header, salt, payload }) => ({
  header,
  salt: Buffer.from(salt, 'hex'),
  payload: Buffer.from(payload),
}))
const repository = { id: 42, owner: 'octo', name: 'pager' }
const commit = { sha: '1'.repeat(40), tree: 'd'.repeat(40), parent: 'a'.repeat(40) }
const facts = (visibility: BundleFacts['repository']['visibility']): BundleFacts => ({
  outcome: 'succeeded',
  repository: { ...repository, visibility },
  commit,
  pushed: false,
})
const base = { task: ledger.taskId, toolVersion: '0.0.0-golden', erasedAt: null, redaction: 'none' } as const
const erased = entries.map(({ header }) => ({ header, salt: null, payload: null }))

export const goldenBundles: Readonly<Record<'private' | 'public' | 'erased' | 'unsigned', Buffer>> = {
  private: signed({ ...base, facts: facts('private'), entries }),
  public: signed({ ...base, facts: facts('public'), entries, redaction: 'outputs' }),
  erased: signed({ ...base, facts: facts('private'), entries: erased, erasedAt: 1_800_000_060_000 }),
  unsigned: linesOf({ ...composed({ ...base, facts: facts('private'), entries, signer: null }), envelope: null }),
}

function composed(source: BundleSource): Omit<Bundle, 'envelope'> {
  const entries = [...composeEntries(source)]
  return { manifest: composeManifest(source, entries), entries }
}

function linesOf(bundle: Bundle): Buffer {
  return Buffer.from([...bundleLines(bundle)].join(''))
}

function signed(source: Omit<BundleSource, 'signer'>): Buffer {
  const { keyId, spki } = publicKey(1)
  const content = composed({ ...source, signer: { keyId, publicKey: spki.toString('base64') } })
  const statement = statementOf(content.manifest)
  const signature = sign(null, preAuthEncoding(statementPayloadType, statement), fixedKey(1))
  return linesOf({ ...content, envelope: sealEnvelope(statementPayloadType, statement, keyId, signature) })
}
