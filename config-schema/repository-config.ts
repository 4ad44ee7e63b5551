import picomatch from 'picomatch'
import * as z from 'zod'

const Command = z.string().trim().min(1).max(2_000)
const Glob = z
  .string()
  .min(1)
  .refine(glob => picomatch.makeRe(glob) instanceof RegExp, 'is not a glob')

/** `.github/grok.yml`, version 1: what a repository's maintainers write. The published JSON schema is made from this. */
export const RepositoryConfig = z.strictObject({
  version: z.literal(1),
  setup: z
    .array(Command)
    .max(20)
    .optional()
    .describe('Commands that prepare a checkout, such as `npm ci`. Run in the sandbox, without secrets.'),
  checks: z
    .array(Command)
    .max(20)
    .optional()
    .describe('Commands that must pass, such as `npm test`. They decide whether a change is proven.'),
  include: z.array(Glob).max(100).optional().describe('Untracked files made by commands that belong to the change, as globs.'),
  protected: z.array(Glob).max(100).optional().describe('More paths that a change may never touch, as globs.'),
  profile: z
    .enum(['workspace', 'strict', 'read-only'])
    .optional()
    .describe('The sandbox profile of `fix`; it can only be narrower than the operator allows.'),
  ci: z
    .enum(['always', 'after-approval'])
    .optional()
    .describe('Whether CI starts on commits of ours by itself; unset, it does unless text of people without write access was read.'),
  links: z
    .enum(['page', 'artifact'])
    .optional()
    .describe('Whether our comments link to the page of a run, which whoever has the link can read; `artifact`: they do not.'),
  limits: z
    .strictObject({
      turnsMax: z.int().positive().optional(),
      tokensMax: z.int().positive().optional(),
      costMicroUsdMax: z.int().positive().optional(),
      taskWallMs: z.int().positive().optional(),
      checkWallMs: z.int().positive().optional(),
      setupWallMs: z.int().positive().optional(),
    })
    .optional()
    .describe("Lower limits than the operator's; a higher one has no effect."),
})
export type RepositoryConfig = z.infer<typeof RepositoryConfig>
