import { once } from 'node:events'
import { createMintServer } from '../app/index.ts'
import type { GitHubApp } from '../github/index.ts'
import { openRedisQueue, queueLimits } from '../queue/index.ts'
import { closeDoor } from './door.ts'
import { type FirstHalfOptions, startFirstHalf } from './first-half.ts'
import { mintSecret } from './keys.ts'
import { openMintFolder } from './mint-folder.ts'
import { openParts, openSettings, type Parts, type PlaceOptions } from './parts.ts'
import type { Serving } from './start-serve.ts'

export type AppOptions = FirstHalfOptions & PlaceOptions & { redisUrl: string }

/** The first half alone: receives, posts what needs no worker, rings the bell of the workers and makes their tokens. */
export async function startApp(options: AppOptions): Promise<Serving> {
  const { dataDir, redisUrl: url, logger } = options
  const settings = openSettings(options)
  const parts = openParts('app', options, settings, () => openRedisQueue({ url, logger, limits: queueLimits, now: Date.now }))
  try {
    const first = await startFirstHalf(options, parts, () => null)
    const closeMint = await openMint(dataDir, options.github.apiUrl, first.github, parts).catch(async error => {
      await first.close()
      throw error
    })
    return {
      url: first.url,
      async close() {
        await first.close()
        await closeMint()
        await parts.close()
      },
    }
  } catch (error) {
    await parts.close()
    throw error
  }
}

async function openMint(
  dataDir: string,
  apiUrl: string,
  github: GitHubApp,
  { ledger, owner, settings, logger }: Parts,
): Promise<() => Promise<void>> {
  const folder = openMintFolder(dataDir)
  const server = createMintServer(mintSecret(dataDir), {
    ...{ github, apiUrl, ledger, logger },
    limits: () => settings().limits,
    now: Date.now,
  })
  server.listen(folder.pathOf(owner))
  await once(server, 'listening')
  return async () => {
    await closeDoor(server)
    folder.close()
  }
}
