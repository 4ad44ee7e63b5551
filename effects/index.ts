export { applyEdit, applyEffect, type EffectPorts, type Settled } from './apply-effect.ts'
export type { GitPort } from './effect-kinds.ts'
export { type EffectProposal, effectId, type Intent, preparedEvent } from './intents.ts'
export { joinBlocks, makeInert } from './outgoing-filter.ts'
