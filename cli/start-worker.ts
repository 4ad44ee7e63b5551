import { createOperationsServer } from '../app/index.ts'
import { createRemoteApp } from '../github/index.ts'
import { openRedisQueue, queueLimits } from '../queue/index.ts'
import { registerSecret } from '../telemetry/index.ts'
import type { ClaimLoop } from '../worker/index.ts'
import { closeDoor, listenAt } from './door.ts'
import { installationSigner, mintSecret } from './keys.ts'
import { openMintFolder } from './mint-folder.ts'
import { loopOf, openOperations } from './open-operations.ts'
import { openParts, openSettings, type Parts, type PlaceOptions } from './parts.ts'
import { type SecondHalfOptions, startSecondHalf } from './second-half.ts'

export type WorkerOptions = Omit<SecondHalfOptions, 'github' | 'signer'> &
  PlaceOptions & {
    redisUrl: string
    /** Where it answers whoever runs it; null: nowhere. */
    door: { host: string; port: number } | null
  }

export type Working = { owner: string; url: string | null; close(): Promise<void> }

/** The second half alone: claims tasks and works on them, with tokens of the app's process. It holds no key of the App. */
export async function startWorker(options: WorkerOptions): Promise<Working> {
  const { dataDir, redisUrl: url, logger } = options
  const settings = openSettings(options)
  const signer = installationSigner(dataDir, options.environment, settings())
  const folder = openMintFolder(dataDir)
  const secret = mintSecret(dataDir)
  registerSecret(secret)
  const github = createRemoteApp({ sockets: folder.sockets, secret, timeoutMs: settings().limits.githubTimeoutMs })
  const parts = openParts('worker', options, settings, () => openRedisQueue({ url, logger, limits: queueLimits, now: Date.now }))
  let claims: ClaimLoop | null = null
  const door = options.door && (await openDoor(options.door, () => claims, parts))
  const second = startSecondHalf({ ...options, github, signer }, parts)
  claims = second
  return {
    owner: parts.owner,
    url: door?.url ?? null,
    async close() {
      door?.leave()
      await second.drain()
      await door?.close()
      await parts.close()
      folder.close()
    },
  }
}

/** A worker has no other door than this one, and nothing but these questions is answered at it. */
async function openDoor(place: { host: string; port: number }, claims: () => ClaimLoop | null, parts: Parts) {
  let leaving = false
  const operations = openOperations(
    {
      loops: () => loopOf(claims()),
      caughtUp: () => claims() !== null,
      leaving: () => leaving,
      running: () => claims()?.running() ?? 0,
    },
    parts,
  )
  const server = createOperationsServer(operations, parts.logger)
  await listenAt(server, place).catch(async error => {
    await parts.close()
    throw error
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : place.port
  return {
    url: `http://${place.host}:${port}`,
    leave() {
      leaving = true
    },
    async close() {
      await closeDoor(server)
      operations.close()
    },
  }
}
