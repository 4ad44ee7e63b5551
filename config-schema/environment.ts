import { homedir } from 'node:os'
import path from 'node:path'
import * as z from 'zod'
import { parseRedisUrl } from './redis-address.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const portWords = 'must be a whole number from 0 to 65535'

/** The protocol is asked for too: `localhost:3000` is a URL, of a protocol named localhost. */
function addressLike(example: string) {
  return z.url({ protocol: /^https?$/, error: `must be an http or https address, such as ${example}` })
}

/** The only file that reads the process's environment. Names are Probot's and the OpenAI package's where those have one. */
const Environment = z.object({
  APP_ID: z.string().optional(),
  PRIVATE_KEY: z.string().optional(),
  PRIVATE_KEY_PATH: z.string().optional(),
  WEBHOOK_SECRET: z.string().optional(),
  GHE_API_URL: addressLike('https://github.example.com/api/v3').optional(),
  REDIS_URL: z.string().refine(parseRedisUrl, 'must be redis[s]://[[user]:password@]host[:port][/database] and nothing more').optional(),
  ALLOWED_OWNERS: z.string().optional(),
  PORT: z.coerce.number(portWords).int(portWords).min(0, portWords).max(65_535, portWords).optional(),
  HOST: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: addressLike('https://api.openai.com/v1').optional(),
  OPENAI_MODEL: z.string().optional(),
  XAI_API_KEY: z.string().optional(),
  /** Where the pages of this installation are reached from outside, such as https://grok.example; unset, no links are written. */
  GROKBOT_URL: addressLike('https://grok.example').optional(),
  /** With it the figures of a process can be read from elsewhere, and only with it. */
  GROKBOT_METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters, such as those of: openssl rand -hex 16').optional(),
  GROKBOT_DATA: z.string().optional(),
  GROKBOT_CONFIG: z.string().optional(),
  GROKBOT_SIGNING_KEY: z.string().optional(),
  GROKBOT_CALLER_DIR: z.string().optional(),
  GROKBOT_CRASHPOINT: z.string().optional(),
  NODE_ENV: z.string().optional(),
  NO_COLOR: z.string().optional(),
  CI: z.string().optional(),
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(logLevels, `must be one of ${logLevels.join(', ')}`))
    .optional(),
})
export type Environment = z.infer<typeof Environment>

export type EnvironmentRead = { kind: 'read'; values: Environment } | { kind: 'invalid'; problems: string[] }

export function readEnvironment(source: NodeJS.ProcessEnv = process.env): EnvironmentRead {
  // An empty variable means "not set": compose files and workflows pass unset ones as empty strings.
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = Environment.safeParse(set)
  if (parsed.success) return { kind: 'read', values: parsed.data }
  return { kind: 'invalid', problems: parsed.error.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`) }
}

export function dataFolder(values: Environment): string {
  if (values.GROKBOT_DATA) return path.resolve(values.GROKBOT_DATA)
  const shared = process.getuid?.() === 0 ? '/var/lib' : path.join(homedir(), '.local', 'share')
  return path.join(shared, 'grokbot')
}

export type ModelEndpoint = { baseUrl: string; apiKey: string; model: string }

/** Null when no model was configured; the caller says which variables are missing. */
export function modelEndpoint(values: Environment): ModelEndpoint | null {
  if (values.OPENAI_API_KEY || values.OPENAI_BASE_URL) {
    return {
      baseUrl: values.OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
      apiKey: values.OPENAI_API_KEY ?? 'none',
      model: values.OPENAI_MODEL ?? 'gpt-5',
    }
  }
  if (values.XAI_API_KEY) return { baseUrl: 'https://api.x.ai/v1', apiKey: values.XAI_API_KEY, model: values.OPENAI_MODEL ?? 'grok-4' }
  return null
}

/** What of the environment must never come out again, whether a command has a use for it or not. */
export function secretsOf(values: Environment): string[] {
  const { PRIVATE_KEY, WEBHOOK_SECRET, OPENAI_API_KEY, XAI_API_KEY, GROKBOT_SIGNING_KEY, GROKBOT_METRICS_TOKEN, REDIS_URL } = values
  const redisPassword = parseRedisUrl(REDIS_URL ?? '')?.password || undefined
  const secrets = [PRIVATE_KEY, WEBHOOK_SECRET, OPENAI_API_KEY, XAI_API_KEY, GROKBOT_SIGNING_KEY, GROKBOT_METRICS_TOKEN, redisPassword]
  return secrets.filter(value => value !== undefined)
}
