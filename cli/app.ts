import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { createLogger } from '../telemetry/index.ts'
import { allowedOwners, appSettings, portOf, redisUrl, told } from './app-settings.ts'
import { dataFolderOf, makeDataFolder } from './data-folder.ts'
import { openMetersOf } from './metrics/metric-table.ts'
import { startApp } from './start-app.ts'

export function define(command: Command, environment: Environment): void {
  command
    .option('--port <n>', 'where to listen; PORT, else 3000')
    .option('--host <address>', 'on which address; HOST, else all')
    .option('--data <dir>', 'the data folder, which its workers share')
    .addHelpText(
      'after',
      '\nSettings come from the environment: REDIS_URL, APP_ID, PRIVATE_KEY or PRIVATE_KEY_PATH, WEBHOOK_SECRET, ALLOWED_OWNERS.\nIts workers need neither the App nor its key: grokbot worker.',
    )
  command.action((options: Options) => app(options, environment))
}

type Options = { port?: string; host?: string; data?: string }

/** Runs until SIGTERM or SIGINT. Tasks go on meanwhile: a worker waits for its next token. */
async function app(options: Options, environment: Environment): Promise<void> {
  const logger = createLogger(environment.LOG_LEVEL ?? 'info')
  const dataDir = makeDataFolder(dataFolderOf(environment, options.data))
  const serving = await startApp({
    meters: await openMetersOf('app'),
    dataDir,
    redisUrl: redisUrl(environment),
    host: options.host ?? environment.HOST ?? '0.0.0.0',
    port: portOf(options.port) ?? environment.PORT ?? 3000,
    github: appSettings(environment),
    allowedOwners: allowedOwners(environment),
    environment,
    logger,
  })
  logger.info({ url: serving.url }, 'listening for webhooks')
  await told()
  await serving.close()
}
