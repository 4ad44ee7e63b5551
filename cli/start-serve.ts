import { createInProcessQueue } from '../queue/index.ts'
import type { ClaimLoop } from '../worker/index.ts'
import { type FirstHalfOptions, startFirstHalf } from './first-half.ts'
import { installationSigner } from './keys.ts'
import { openParts, openSettings, type PlaceOptions } from './parts.ts'
import { type SecondHalfOptions, startSecondHalf } from './second-half.ts'

export type ServeOptions = FirstHalfOptions & PlaceOptions & Omit<SecondHalfOptions, 'github' | 'signer'>
export type Serving = { url: string; close(): Promise<void> }

/** Both halves in one process. */
export async function startServe(options: ServeOptions): Promise<Serving> {
  const settings = openSettings(options)
  const signer = installationSigner(options.dataDir, options.environment, settings())
  const parts = openParts('serve', options, settings, createInProcessQueue)
  let claims: ClaimLoop | null = null
  const first = await startFirstHalf(options, parts, () => claims).catch(async error => {
    await parts.close()
    throw error
  })
  const second = startSecondHalf({ ...options, github: first.github, signer }, parts)
  claims = second
  return {
    url: first.url,
    async close() {
      first.leave()
      // Running tasks first: an orchestrator that waits only so long must find them handed back.
      await second.drain()
      await first.close()
      await parts.close()
    },
  }
}
