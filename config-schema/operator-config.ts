import * as z from 'zod'
import { HostPort } from './host-port.ts'
import { type LimitName, limitTable } from './limits.ts'

const limitNames = Object.keys(limitTable) as [LimitName, ...LimitName[]]
const AbsolutePath = z.string().regex(/^\//, 'must be an absolute path')

/** Limits that mean something at 0: none kept ahead, no cap, no waiting. Any other at 0 would stop everything. */
const zeroAllowed: readonly LimitName[] = [
  'costMicroUsdMax',
  'repositoryDayMicroUsdMax',
  'actorDayMicroUsdMax',
  'sandboxPoolSize',
  'progressAfterMs',
  'progressGapMs',
  'readBackGapMs',
  'writeGapMs',
]

function refuseZeros(limits: Partial<Record<LimitName, number>>, context: z.RefinementCtx): void {
  for (const [name, value] of Object.entries(limits)) {
    if (value === 0 && !zeroAllowed.includes(name as LimitName))
      context.addIssue({ code: 'custom', path: [name], message: 'must be above 0' })
  }
}

/** What a day may cost is kept by setting aside what each task may cost: without a cap of its own that is not known. */
function refuseUncapped(limits: Partial<Record<LimitName, number>>, context: z.RefinementCtx): void {
  const day = (['repositoryDayMicroUsdMax', 'actorDayMicroUsdMax'] as const).find(name => (limits[name] ?? 0) > 0)
  if (day && !limits.costMicroUsdMax)
    context.addIssue({ code: 'custom', path: [day], message: 'needs costMicroUsdMax, the money for one task' })
}

/** What the operator of a machine writes (`GROKBOT_CONFIG`, default `<data folder>/operator.yml`); re-read for each task. */
export const OperatorConfig = z.strictObject({
  version: z.literal(1),
  limits: z.partialRecord(z.enum(limitNames), z.int().nonnegative()).superRefine(refuseZeros).superRefine(refuseUncapped).optional(),
  sandbox: z
    .strictObject({
      policy: z.enum(['required', 'prefer']).optional(),
      profile: z.enum(['workspace', 'devbox', 'read-only', 'strict', 'off', 'review']).optional(),
      /** Read-only toolchain folders, seen at the same path inside. */
      roots: z.array(AbsolutePath).max(50).optional(),
      masked: z.array(AbsolutePath).max(100).optional(),
      uidBase: z.int().min(1_000).optional(),
      singleUidTenants: z.boolean().optional(),
      readHost: z.boolean().optional(),
    })
    .optional(),
  egress: z
    .strictObject({
      /** `host:port` pairs that setup may reach besides the registries of the detected ecosystem. */
      allow: z.array(HostPort).max(200).optional(),
      /** The only private addresses the proxy may dial, as `host:port`. */
      allowPrivate: z.array(HostPort).max(20).optional(),
    })
    .optional(),
  /** Ids of the bots whose comments may start work; every other bot's are ignored. */
  bots: z.array(z.int().positive()).max(50).optional(),
  /** Whether CI starts on our commits: see `effectiveConfig`. */
  ci: z.enum(['always', 'after-approval']).optional(),
  /** Who signs receipts, when it is not the key in the data folder or the environment: a command, such as a KMS client. */
  signing: z
    .strictObject({
      /** Program and arguments; gets the bytes on its standard input and prints their Ed25519 signature, raw or in base64. */
      command: z.array(z.string().min(1)).min(1).max(50),
      /** The public key it signs with, as PEM. */
      publicKey: AbsolutePath,
    })
    .optional(),
  models: z
    .record(
      z.string(),
      z.strictObject({
        contextTokens: z.int().positive().optional(),
        /** Millionths of a dollar for a million tokens. */
        price: z
          .strictObject({ input: z.int().nonnegative(), cachedInput: z.int().nonnegative().optional(), output: z.int().nonnegative() })
          .optional(),
        temperature: z.number().min(0).max(2).optional(),
      }),
    )
    .optional(),
})
export type OperatorConfig = z.infer<typeof OperatorConfig>
