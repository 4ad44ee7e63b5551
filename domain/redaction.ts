import * as z from 'zod'
import { eventSchemas, type receiptTypes, type TaskAccepted } from './event.ts'

/**
 * How much of a receipt's payload a bundle shows. `none`: the recorded bytes with their salt, so that anyone can check
 * them against the chain. `outputs`: what the model and commands put out is left out, and so are the salts, without which
 * what was left out can not be guessed from its hash. Which level a repository gets follows from who can read it.
 */
export const redactionLevels = ['none', 'outputs'] as const
export type Redaction = (typeof redactionLevels)[number]
export type ReceiptType = (typeof receiptTypes)[number]

export const redactionOf: Readonly<Record<TaskAccepted['repository']['visibility'], Redaction>> = {
  private: 'none',
  internal: 'none',
  public: 'outputs',
}

/**
 * The fields left out at level `outputs`. An output's hash goes with it: it has no salt. What a tool was asked stays in
 * its own receipt (`meta.input`); the arguments beside it may hold whole files.
 */
export const outputFields = {
  'model.answered': ['text', 'toolCalls'],
  'tool.settled': ['result', 'outputHash'],
  'check.settled': ['output', 'outputHash'],
  'effect.settled': [],
} as const satisfies { [T in ReceiptType]: readonly (keyof z.infer<(typeof eventSchemas)[T]>)[] }

/** What a redacted payload looks like: the event's own schema without those fields, and nothing else. */
export const redactedSchemas: Readonly<Record<ReceiptType, z.ZodType>> = {
  'model.answered': without(eventSchemas['model.answered'], outputFields['model.answered']),
  'tool.settled': without(eventSchemas['tool.settled'], outputFields['tool.settled']),
  'check.settled': without(eventSchemas['check.settled'], outputFields['check.settled']),
  'effect.settled': without(eventSchemas['effect.settled'], outputFields['effect.settled']),
}

function without(schema: z.ZodObject, fields: readonly string[]): z.ZodType {
  const shape = Object.fromEntries(Object.entries(schema.shape).filter(([name]) => !fields.includes(name)))
  return z.strictObject(shape)
}

export function redactPayload(type: ReceiptType, payload: object): object {
  const left: readonly string[] = outputFields[type]
  return Object.fromEntries(Object.entries(payload).filter(([name]) => !left.includes(name)))
}
