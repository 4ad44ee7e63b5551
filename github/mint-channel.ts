import * as z from 'zod'

/**
 * What a worker and the app's process say to each other: HTTP over a Unix socket only their own user can reach, with a
 * secret of the installation. `POST /token` with a `MintCall`, `GET /identity`. A failure of GitHub's comes back with its
 * own status, headers that matter and body, so that the worker tells faults apart as if it had asked itself.
 */
export const MintCall = z.strictObject({
  installationId: z.int(),
  repositoryId: z.int(),
  permissions: z.record(z.string().max(50), z.enum(['read', 'write'])),
  for: z.strictObject({ taskId: z.string().max(100), attempt: z.int().positive() }),
})
export type MintCall = z.infer<typeof MintCall>

export const MintAnswer = z.object({ token: z.string(), expiresAt: z.string() })

export const IdentityAnswer = z.object({ id: z.int(), slug: z.string(), botLogin: z.string(), apiUrl: z.string() })

/** Which headers of GitHub's refusal are passed on: how long it wants to be left alone. */
export const passedHeaders = ['retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'date'] as const
