import type { ModelSettings } from '../agent/index.ts'
import type { OperatorConfig } from '../config-schema/index.ts'
import { workerLimits } from './limits.ts'

type ModelConfig = NonNullable<OperatorConfig['models']>[string]

/** A price nobody configured stays unknown: with a money cap set, the session then refuses to start and names the key. */
export function modelSettingsOf(name: string, config: ModelConfig | undefined): ModelSettings {
  const price = config?.price
  return {
    name,
    outputTokensMax: workerLimits.outputTokensMax,
    outputTokensField: 'max_completion_tokens',
    temperature: config?.temperature ?? null,
    price: price ? { input: price.input, cachedInput: price.cachedInput ?? price.input, output: price.output } : null,
  }
}
