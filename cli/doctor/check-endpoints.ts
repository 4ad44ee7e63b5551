import { type Environment, modelEndpoint } from '../../config-schema/index.ts'
import { classifyError, createGitHubApp } from '../../github/index.ts'
import { appSettings, gitHubUrl } from '../app-settings.ts'
import { causeWords } from '../cause-words.ts'
import { UsageError } from '../exit.ts'
import { broken, degraded, type Finding, ok, tried } from './finding.ts'

const answerWallMs = 10_000
/** GitHub refuses an App's signature that is a minute off. */
const clockOffMsMax = 60_000

/** The two services outside: is each configured, does it answer, does it know us. */
export async function checkEndpoints(environment: Environment): Promise<Finding[]> {
  return [...(await tried('model', 'see OPENAI_BASE_URL', () => modelFindings(environment))), ...(await appFindings(environment))]
}

async function modelFindings(environment: Environment): Promise<Finding[]> {
  const endpoint = modelEndpoint(environment)
  if (endpoint === null) {
    return [
      degraded(
        'model',
        'no model is configured, so only scripted ones work',
        'set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL), or XAI_API_KEY',
      ),
    ]
  }
  const shown = `${endpoint.model} at ${endpoint.baseUrl}`
  const answer = await ask(`${endpoint.baseUrl.replace(/\/$/, '')}/models`, endpoint.apiKey)
  if (answer.kind === 'none')
    return [broken('model', `${shown} does not answer: ${answer.reason}`, 'check OPENAI_BASE_URL and the network')]
  if (answer.status === 401 || answer.status === 403)
    return [broken('model', `${shown} refuses the key (${answer.status})`, 'check OPENAI_API_KEY')]
  const named = answer.models === null || answer.models.includes(endpoint.model)
  const model = named
    ? ok('model', `${shown} answers`)
    : degraded('model', `${shown} answers and does not list that model`, 'check OPENAI_MODEL')
  return [model, ...clockAgainst(answer.date)]
}

type Answer = { kind: 'answered'; status: number; date: number | null; models: readonly string[] | null } | { kind: 'none'; reason: string }

async function ask(url: string, key: string): Promise<Answer> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(answerWallMs),
      redirect: 'manual',
    })
    const date = Date.parse(response.headers.get('date') ?? '')
    return { kind: 'answered', status: response.status, date: Number.isNaN(date) ? null : date, models: modelNames(await response.text()) }
  } catch (error) {
    return { kind: 'none', reason: causeWords(error) }
  }
}

/** Null when the endpoint lists none: many do not. */
function modelNames(text: string): string[] | null {
  try {
    const { data } = JSON.parse(text) as { data?: unknown }
    if (!Array.isArray(data)) return null
    return data.flatMap((row: unknown) =>
      typeof row === 'object' && row !== null && 'id' in row && typeof row.id === 'string' ? [row.id] : [],
    )
  } catch {
    // Not JSON: it answers, and that is all that is asked of it here.
    return null
  }
}

function clockAgainst(date: number | null): Finding[] {
  if (date === null || Math.abs(Date.now() - date) <= clockOffMsMax) return []
  return [
    broken(
      'clock',
      `it is ${Math.round((Date.now() - date) / 1000)} s off the model endpoint's`,
      'set the clock: timedatectl set-ntp true',
    ),
  ]
}

async function appFindings(environment: Environment): Promise<Finding[]> {
  const { APP_ID: appId, WEBHOOK_SECRET: secret, PRIVATE_KEY: text, PRIVATE_KEY_PATH: file } = environment
  const missing = [
    ...(appId ? [] : ['APP_ID']),
    ...(secret ? [] : ['WEBHOOK_SECRET']),
    ...(text || file ? [] : ['PRIVATE_KEY or PRIVATE_KEY_PATH']),
  ]
  if (missing.length > 0)
    return [
      degraded(
        'github app',
        `not configured, so serve can not start; run works without: ${missing.join(', ')} not set`,
        `set ${missing.join(', ')}`,
      ),
    ]
  return await tried('github app', 'check APP_ID and PRIVATE_KEY', () => askApp(environment))
}

async function askApp(environment: Environment): Promise<Finding[]> {
  try {
    const { apiUrl, appId, privateKey } = appSettings(environment)
    const { slug } = await createGitHubApp({ apiUrl, appId, privateKey, timeoutMs: answerWallMs }).identity()
    const owners = environment.ALLOWED_OWNERS
    return [
      ok('github app', `${slug} at ${apiUrl}`),
      owners
        ? ok('allowed owners', owners)
        : degraded('allowed owners', 'every owner that installs the App is served', 'set ALLOWED_OWNERS'),
    ]
  } catch (error) {
    if (error instanceof UsageError) return [broken('github app', error.message, error.hints.join('; '))]
    // What never came to an answer has a cause; what GitHub answered has none, whatever it says of us.
    if (!(error instanceof Error) || classifyError(error).kind !== 'uncertain' || error.cause === undefined) throw error
    const { GHE_API_URL: address } = environment
    const mend = address === undefined ? 'check the network' : 'check GHE_API_URL and the network'
    return [broken('github app', `${address ?? gitHubUrl} does not answer: ${causeWords(error)}`, mend)]
  }
}
