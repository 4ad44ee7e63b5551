import * as z from 'zod'

/** Token counts as the endpoint reports them. */
export const ScriptedUsage = z.strictObject({
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  cachedTokens: z.int().nonnegative().default(0),
  reasoningTokens: z.int().nonnegative().default(0),
})

const times = z.int().positive().default(1)

/** What goes wrong with an answer; each is used up after `times` requests, so that a retry can succeed. */
export const ModelFault = z.discriminatedUnion('kind', [
  /** An HTTP error; `html` sends a load balancer's page in place of OpenAI's error object. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(400).max(599),
    message: z.string().optional(),
    code: z.string().optional(),
    retryAfterSeconds: z.number().nonnegative().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    html: z.boolean().optional(),
    times,
  }),
  /** Says nothing more after so many chunks; without a number it never answers at all. The connection stays open. */
  z.strictObject({ kind: z.literal('stall'), afterChunks: z.int().nonnegative().optional(), times }),
  /** As a stall, with an SSE comment every `everyMs`: bytes arrive, an answer does not. */
  z.strictObject({ kind: z.literal('keep-alive'), everyMs: z.int().positive().default(100), times }),
  /** The connection breaks after so many chunks; without a number before any byte. */
  z.strictObject({ kind: z.literal('cut'), afterChunks: z.int().nonnegative().optional(), times }),
  z.strictObject({ kind: z.literal('malformed-chunk'), times }),
  /** An error object in the stream after the first chunks. */
  z.strictObject({
    kind: z.literal('error-chunk'),
    message: z.string().default('The server had an error.'),
    code: z.string().default('server_error'),
    times,
  }),
  z.strictObject({ kind: z.literal('no-done'), times }),
  z.strictObject({ kind: z.literal('no-finish'), times }),
  z.strictObject({ kind: z.literal('reasoning-only'), text: z.string().default('Let me think.'), times }),
  z.strictObject({ kind: z.literal('empty'), times }),
  z.strictObject({ kind: z.literal('length'), times }),
  z.strictObject({ kind: z.literal('no-usage'), times }),
  z.strictObject({
    kind: z.literal('wrong-usage'),
    usage: ScriptedUsage.default({ promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 }),
    times,
  }),
  /** Text without end: so many bytes of it. */
  z.strictObject({
    kind: z.literal('huge'),
    bytes: z
      .int()
      .positive()
      .default(50 * 1024 * 1024),
    times,
  }),
  /** The first tool call comes twice, with the same id. */
  z.strictObject({ kind: z.literal('duplicate-call'), times }),
  z.strictObject({ kind: z.literal('latency'), ms: z.int().nonnegative(), times }),
])

const ScriptedCall = z.strictObject({
  name: z.string(),
  /** Text is sent as it is, so that broken JSON can be played. */
  arguments: z.union([z.record(z.string(), z.unknown()), z.string()]).default({}),
  id: z.string().optional(),
})

export const ModelTurn = z.strictObject({
  text: z.string().optional(),
  reasoning: z.string().optional(),
  toolCalls: z.array(ScriptedCall).optional(),
  usage: ScriptedUsage.optional(),
  finishReason: z.enum(['stop', 'tool_calls', 'length', 'content_filter']).optional(),
  fault: z.union([ModelFault, z.array(ModelFault)]).optional(),
})

/** The public format of `--model-script FILE`: the turns of one conversation, in order. */
export const ModelScript = z.array(ModelTurn)

export type ModelScript = z.input<typeof ModelScript>
export type ModelTurn = z.input<typeof ModelTurn>
export type ModelFault = z.input<typeof ModelFault>
export type CheckedTurn = z.output<typeof ModelTurn>
export type CheckedFault = z.output<typeof ModelFault>
export type ScriptedUsage = z.output<typeof ScriptedUsage>
