import { configBytesMax, type Environment, type ModelEndpoint, parseConfig } from '../../config-schema/index.ts'
import type { ModelScript } from '../../simulator/index.ts'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'
import { readNamed } from '../read-named.ts'
import { requiredModel } from '../required-model.ts'

export type RunModel = { endpoint: ModelEndpoint; close(): Promise<void> }

const scriptBytesMax = 64 * 1024 * 1024

/** The configured endpoint, or a scripted one on 127.0.0.1: to the rest of the road both are the same. */
export async function openModel(environment: Environment, scriptFile: string | undefined): Promise<RunModel> {
  if (scriptFile === undefined) return { endpoint: requiredModel(environment), close: async () => undefined }
  const script = await readScript(scriptFile)
  const { startFakeModel } = await import('../../simulator/index.ts')
  const model = await startFakeModel()
  model.script(script)
  return { endpoint: { baseUrl: model.url, apiKey: 'none', model: 'scripted' }, close: () => model.close() }
}

/** `--model-script FILE`: a JSON array of turns. Throws `UsageError` with the line and column of what is wrong. */
export async function readScript(file: string): Promise<ModelScript> {
  // Loaded only when there is a script: a run on a real model has no use for a simulator.
  const { ModelScript } = await import('../../simulator/index.ts')
  // A byte order mark is no part of JSON, and some editors write one.
  const text = readNamed(file, { by: '--model-script', bytesMax: scriptBytesMax })
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  const parsed = ModelScript.safeParse(tryJson(text))
  if (parsed.success) return parsed.data
  // JSON is YAML: the reader of configurations knows positions, which JSON.parse does not give, as long as a file is small.
  const located = Buffer.byteLength(text) <= configBytesMax ? parseConfig(ModelScript, text) : null
  const unlocated = parsed.error.issues.map(issue => ({ line: 1, column: 1, path: issue.path.join('.'), message: issue.message }))
  const problems = located?.kind === 'invalid' ? located.problems : unlocated
  throw new UsageError(
    'model-script-invalid',
    `--model-script: ${escapeText(file)} is not a list of turns`,
    problems
      .slice(0, problemsShownMax)
      .map(({ line, column, path, message }) => escapeText(`${file}:${line}:${column}: ${path} ${message}`)),
  )
}

const problemsShownMax = 10

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: no schema accepts undefined, and the position is looked for next.
    return undefined
  }
}
