export { applyEdit, applyEffect, type EffectPorts, GitHubAway, type Settled } from './apply-effect.ts'
export type { GitPort } from './effect-kinds.ts'
export { type EffectProposal, effectId, type Intent, preparedEvent } from './intents.ts'
export { joinBlocks, makeInert, makeInertForCommit } from './outgoing-filter.ts'
