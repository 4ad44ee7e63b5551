import { createRemoteApp } from '../github/index.ts'
import { openRedisQueue, queueLimits } from '../queue/index.ts'
import { registerSecret } from '../telemetry/index.ts'
import { installationSigner } from './keys.ts'
import { openMintFolder } from './mint-folder.ts'
import { openParts, openSettings, type PlaceOptions } from './parts.ts'
import { type SecondHalfOptions, startSecondHalf } from './second-half.ts'
import { mintSecret } from './start-app.ts'

export type WorkerOptions = Omit<SecondHalfOptions, 'github' | 'signer'> & PlaceOptions & { redisUrl: string }

/** The second half alone: claims tasks and works on them, with tokens of the app's process. It holds no key of the App. */
export function startWorker(options: WorkerOptions): { owner: string; close(): Promise<void> } {
  const { dataDir, redisUrl: url, logger } = options
  const settings = openSettings(options)
  const signer = installationSigner(dataDir, options.environment, settings())
  const folder = openMintFolder(dataDir)
  const secret = mintSecret(dataDir)
  registerSecret(secret)
  const github = createRemoteApp({ sockets: folder.sockets, secret, timeoutMs: settings().limits.githubTimeoutMs })
  const parts = openParts('worker', options, settings, () => openRedisQueue({ url, logger, limits: queueLimits, now: Date.now }))
  const claims = startSecondHalf({ ...options, github, signer }, parts)
  return {
    owner: parts.owner,
    async close() {
      await claims.drain()
      await parts.close()
      folder.close()
    },
  }
}
