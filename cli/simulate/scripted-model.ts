import { type Environment, type ModelEndpoint, modelEndpoint } from '../../config-schema/index.ts'
import type { FakeModel } from '../../simulator/index.ts'
import { readScript } from '../run/model.ts'
import type { View } from '../view/view.ts'

/** The script's model; else the configured one; else one that has nothing to say, which a refused command never notices. */
export async function openScriptedModel(
  model: FakeModel,
  environment: Environment,
  file: string | undefined,
  view: View,
): Promise<ModelEndpoint> {
  const scripted = { baseUrl: model.url, apiKey: 'none', model: 'scripted' }
  if (file !== undefined) {
    model.script(await readScript(file))
    return scripted
  }
  const configured = modelEndpoint(environment)
  if (configured) return configured
  view.note('  no model is configured and no --model-script is given: an accepted command will get no answer')
  return scripted
}
