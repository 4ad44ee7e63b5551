import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { createLogger } from '../telemetry/index.ts'
import { allowedOwners, portOf, redisUrl, told } from './app-settings.ts'
import { dataFolderOf, makeDataFolder } from './data-folder.ts'
import { UsageError } from './exit.ts'
import { openMetersOf } from './metrics/metric-table.ts'
import { readOperator } from './read-operator.ts'
import { requiredModel } from './required-model.ts'
import { startWorker } from './start-worker.ts'
import { requireTenantsApart } from './tenants.ts'

export function define(command: Command, environment: Environment): void {
  command
    .option('--data <dir>', "the data folder, the app's own")
    .option('--port <n>', 'where to answer /healthz, /readyz and /metrics; not given, nowhere')
    .option('--host <address>', 'on which address; HOST, else all')
    .addHelpText(
      'after',
      '\nSettings come from the environment: REDIS_URL, ALLOWED_OWNERS, and the model. Any number may run beside one app.',
    )
  command.action((options: Options) => worker(options, environment))
}

type Options = { data?: string; port?: string; host?: string }

/** Runs until SIGTERM or SIGINT; then running tasks are handed back, and another worker goes on with them. */
async function worker(options: Options, environment: Environment): Promise<void> {
  refuseAppKey(environment)
  const logger = createLogger(environment.LOG_LEVEL ?? 'info')
  const dataDir = makeDataFolder(dataFolderOf(environment, options.data))
  const [owners, model] = [allowedOwners(environment), requiredModel(environment)]
  requireTenantsApart(readOperator(environment, dataDir), owners)
  const port = portOf(options.port)
  const working = await startWorker({
    ...(port === null ? {} : { meters: await openMetersOf('worker') }),
    door: port === null ? null : { host: options.host ?? environment.HOST ?? '0.0.0.0', port },
    dataDir,
    redisUrl: redisUrl(environment),
    allowedOwners: owners,
    model,
    environment,
    logger,
    progress: () => undefined,
  })
  logger.info({ owner: working.owner, url: working.url }, 'waiting for tasks')
  await told()
  await working.close()
}

/** A worker runs what a model chose: the key that speaks for every installation must not be in its memory. */
function refuseAppKey({ PRIVATE_KEY, PRIVATE_KEY_PATH, WEBHOOK_SECRET }: Environment): void {
  const held = Object.entries({ PRIVATE_KEY, PRIVATE_KEY_PATH, WEBHOOK_SECRET }).filter(([, value]) => value)
  if (held.length > 0)
    throw new UsageError(
      'worker-holds-secrets',
      "a worker must not hold the App's secrets",
      held.map(([name]) => `take ${name} out of this process's environment; only grokbot app needs it`),
    )
}
