import { type Environment, type ModelEndpoint, modelEndpoint } from '../config-schema/index.ts'
import { UsageError } from './exit.ts'

export function requiredModel(environment: Environment): ModelEndpoint {
  const model = modelEndpoint(environment)
  if (model !== null) return model
  throw new UsageError('no model is configured', [
    'set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL for another endpoint), or XAI_API_KEY',
  ])
}
