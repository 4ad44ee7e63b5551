import { type Environment, type ModelEndpoint, modelEndpoint } from '../config-schema/index.ts'
import { UsageError } from './exit.ts'

export function requiredModel(environment: Environment): ModelEndpoint {
  const model = modelEndpoint(environment)
  if (model !== null) return model
  throw new UsageError('model-unset', 'no model is configured')
}
