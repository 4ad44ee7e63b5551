import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Command, Option } from 'commander'
import { isServedEvent, servedEvents } from '../app/index.ts'
import type { Environment } from '../config-schema/index.ts'
import { type Role, roles } from '../domain/index.ts'
import { startSimulator, worldFromPayload } from '../simulator/index.ts'
import { createLogger, silentLogger } from '../telemetry/index.ts'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'
import { headerValue } from './header-value.ts'
import { playDelivery } from './simulate/play-delivery.ts'
import { exitCodeOfPlay, printPlay } from './simulate/print-play.ts'
import { readPayload } from './simulate/read-payload.ts'
import { openScriptedModel } from './simulate/scripted-model.ts'
import { startServe } from './start-serve.ts'
import { openDemoView } from './view/open-demo-view.ts'
import { silentView } from './view/view.ts'

export type SimulateOptions = {
  event: string
  repo: string
  permission: Role
  modelScript?: string
  json?: boolean
  quiet?: boolean
  keep?: boolean
}

export function define(command: Command, environment: Environment): void {
  command
    .argument('<payload>', 'a file with the body of a webhook, as GitHub sent it')
    .requiredOption('--event <name>', 'what GitHub calls it in X-GitHub-Event, such as issue_comment')
    .requiredOption('--repo <dir>', "what the payload's repository holds: a repository, or a folder of files")
    .addOption(new Option('--permission <role>', 'the role of who wrote the comment').choices(roles).default('write'))
    .option('--model-script <file>', 'a JSON array of turns in place of a model')
    .option('--json', 'print one object, last')
    .option('-q, --quiet', 'no progress')
    .option('--keep', 'keep the data folder and say where it is')
    .addHelpText('after', exitHelp)
  command.action((file: string, options: SimulateOptions) => simulate(file, options, environment))
}

const exitHelp = `
A fake GitHub is started with that repository, and a real \`serve\` in this process; nothing leaves the machine but what
is asked of a configured model. Exit: as the outcome says; 3 refused; 0 ignored, since there was nothing to do; 2 when the
payload does not fit its event.`

/** Plays one recorded webhook, signed, against a real receiver, and shows every effect it has on GitHub. */
async function simulate(file: string, options: SimulateOptions, environment: Environment): Promise<void> {
  const event = headerValue('--event', options.event)
  const recorded = readPayload(file, options.repo)
  const folder = await mkdtemp(path.join(tmpdir(), 'grokbot-simulate-'))
  // The slot's user must be able to pass through it to its own folders.
  await chmod(folder, 0o711)
  const simulator = await startSimulator({ folder: path.join(folder, 'github') })
  const view = options.quiet ? silentView : openDemoView(environment)
  try {
    const { github } = simulator
    const world = await worldFromPayload(github, recorded, { from: path.resolve(options.repo), role: options.permission })
    if (world.kind === 'unusable')
      throw new UsageError(
        'payload-invalid',
        `${escapeText(file)} is not the body of a webhook: ${escapeText(`${world.path} ${world.message}`)}`,
      )
    for (const note of world.notes) view.note(`  ${note}`)
    if (!isServedEvent(event)) view.note(`  ${event} is none of the events that are served: ${Object.keys(servedEvents).join(', ')}`)
    const model = await openScriptedModel(simulator.model, environment, options.modelScript, view)
    const play = await playDelivery(world.payload, event, {
      github,
      dataDir: path.join(folder, 'data'),
      start: ports =>
        startServe({
          ...ports,
          host: '127.0.0.1',
          port: 0,
          github: {
            apiUrl: github.url,
            appId: String(github.appId),
            privateKey: github.appPrivateKey,
            webhookSecret: github.webhookSecret,
          },
          allowedOwners: null,
          model,
          environment,
          logger: environment.LOG_LEVEL ? createLogger(environment.LOG_LEVEL) : silentLogger,
          progress: (_, update) => view.progress(update),
        }),
    })
    view.close()
    printPlay(play, options.json === true)
    process.exitCode = exitCodeOfPlay(play)
  } finally {
    view.close()
    await simulator.close()
    if (options.keep) process.stderr.write(`data kept in ${folder}\n`)
    else await rm(folder, { recursive: true, force: true })
  }
}
