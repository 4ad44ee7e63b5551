import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { createLogger } from '../telemetry/index.ts'
import { allowedOwners, appSettings, portOf, told } from './app-settings.ts'
import { dataFolderOf, makeDataFolder } from './data-folder.ts'
import { openMetersOf } from './metrics/metric-table.ts'
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
    meters: await openMetersOf('serve'),
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
  await told()
  await serving.close()
}
