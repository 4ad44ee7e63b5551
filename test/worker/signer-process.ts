import { openSigner } from '../../worker/signer.ts'

/** A process of its own, so that several can ask for the first key at once. */
const opened = openSigner({ dataDir: process.argv[2] ?? '' })
process.stdout.write(opened.kind === 'ready' ? opened.signer.keyId : opened.reason)
