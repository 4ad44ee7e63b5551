import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { createLogger } from '../telemetry/index.ts'
import { dataFolderOf, makeDataFolder } from './data-folder.ts'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'
import { readOperator } from './read-operator.ts'
import { requiredModel } from './required-model.ts'
import { startServe } from './start-serve.ts'
import { requireTenantsApart } from './tenants.ts'

export function define(command: Command, environment: Environment): void {
  command
    .option('--port <n>', 'where to listen; PORT, else 3000')
    .option('--host <address>', 'on which address; HOST, else all')
    .option('--data <dir>', 'the data folder')
    .addHelpText(
      'after',
      '\nSettings come from the environment: APP_ID, PRIVATE_KEY or PRIVATE_KEY_PATH, WEBHOOK_SECRET, ALLOWED_OWNERS, and the model.',
    )
  command.action((options: Options) => serve(options, environment))
}

type Options = { port?: string; host?: string; data?: string }

/** Runs until SIGTERM or SIGINT; then running tasks are handed back, and the next start goes on with them. */
async function serve(options: Options, environment: Environment): Promise<void> {
  const logger = createLogger(environment.LOG_LEVEL ?? 'info')
  const dataDir = makeDataFolder(dataFolderOf(environment, options.data))
  const [github, owners, model] = [appSettings(environment), allowedOwners(environment), requiredModel(environment)]
  requireTenantsApart(readOperator(environment, dataDir), owners)
  const serving = await startServe({
    dataDir,
    host: options.host ?? environment.HOST ?? '0.0.0.0',
    port: portOf(options.port) ?? environment.PORT ?? 3000,
    github,
    allowedOwners: owners,
    model,
    environment,
    logger,
    progress: () => undefined,
  })
  logger.info({ url: serving.url }, 'listening for webhooks')
  await new Promise<void>(stop => {
    // Listeners that stay: a library that tidies up after children ends the process itself once no other is left.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop())
  })
  await serving.close()
}

function portOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--port is a number from 0 to 65535, not ${escapeText(text)}`)
}

function appSettings(environment: Environment) {
  const missing = (['APP_ID', 'WEBHOOK_SECRET'] as const).filter(name => !environment[name])
  const privateKey =
    environment.PRIVATE_KEY?.replaceAll('\\n', '\n') ?? (environment.PRIVATE_KEY_PATH ? readKey(environment.PRIVATE_KEY_PATH) : undefined)
  if (missing.length > 0 || !privateKey) {
    throw new UsageError(
      'the GitHub App is not configured',
      [...missing, ...(privateKey ? [] : ['PRIVATE_KEY or PRIVATE_KEY_PATH'])].map(name => `set ${name}`),
    )
  }
  return {
    apiUrl: environment.GHE_API_URL ?? 'https://api.github.com',
    appId: environment.APP_ID ?? '',
    privateKey,
    webhookSecret: environment.WEBHOOK_SECRET ?? '',
  }
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`PRIVATE_KEY_PATH: ${escapeText(file)} can not be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Required in production: a public App would otherwise spend the operator's money for anybody who installs it. */
function allowedOwners(environment: Environment): string[] | null {
  if (environment.ALLOWED_OWNERS)
    return environment.ALLOWED_OWNERS.split(',')
      .map(owner => owner.trim().toLowerCase())
      .filter(Boolean)
  if (environment.NODE_ENV === 'production')
    throw new UsageError('ALLOWED_OWNERS is not set', ['name the users and organisations this App works for, separated by commas'])
  return null
}
