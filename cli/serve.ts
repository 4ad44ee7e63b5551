import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { dataFolder, type Environment } from '../config-schema/index.ts'
import { createLogger } from '../telemetry/index.ts'
import { UsageError } from './exit.ts'
import { requiredModel } from './required-model.ts'
import { startServe } from './start-serve.ts'

export function define(command: Command, environment: Environment): void {
  command.action(() => serve(environment))
}

/** Runs until SIGTERM or SIGINT; then running tasks are handed back, and the next start goes on with them. */
async function serve(environment: Environment): Promise<void> {
  const logger = createLogger(environment.LOG_LEVEL ?? 'info')
  const serving = await startServe({
    dataDir: dataFolder(environment),
    host: environment.HOST ?? '0.0.0.0',
    port: environment.PORT ?? 3000,
    github: appSettings(environment),
    allowedOwners: allowedOwners(environment),
    model: requiredModel(environment),
    environment,
    logger,
    progress: () => undefined,
  })
  logger.info({ url: serving.url }, 'listening for webhooks')
  await new Promise<void>(stop => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop())
  })
  await serving.close()
}

function appSettings(environment: Environment) {
  const missing = (['APP_ID', 'WEBHOOK_SECRET'] as const).filter(name => !environment[name])
  const privateKey =
    environment.PRIVATE_KEY?.replaceAll('\\n', '\n') ??
    (environment.PRIVATE_KEY_PATH ? readFileSync(environment.PRIVATE_KEY_PATH, 'utf8') : undefined)
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
