import { Command } from 'commander'
import { type Environment, readEnvironment, secretsOf } from '../config-schema/index.ts'
import type { ProblemCode } from '../domain/index.ts'
import { armCrashpoint, registerSecret, showsStacks } from '../telemetry/index.ts'
import { escapeLines } from './escape.ts'
import { exitCodes, UsageError } from './exit.ts'
import { sayError } from './say-error.ts'
import { subCommands } from './sub-commands.ts'
import { version } from './version.ts'

/** `grokbot <sub-command>`: one file each, loaded only when it is called, so that a short command starts quickly. */
export async function main(): Promise<void> {
  watchStreams()
  const environment = readEnvironment()
  const debug = environment.kind === 'read' && showsStacks(environment.values.LOG_LEVEL ?? '')
  muteWarnings(debug)
  // Node would print what was thrown as it is, and it may hold foreign text.
  process.on('uncaughtException', error => process.exit(sayError(error, debug)))
  try {
    const values = usable(environment)
    for (const secret of secretsOf(values)) registerSecret(secret)
    armCrashpoint(values.GROKBOT_CRASHPOINT)
    await (await programOf(values, process.argv[2])).parseAsync()
  } catch (error) {
    process.exitCode = sayError(error, debug)
  }
}

/** Throws `UsageError`: a variable that is not understood is never taken for one that is not set. */
export function usable(environment: ReturnType<typeof readEnvironment>): Environment {
  if (environment.kind === 'read') return environment.values
  throw new UsageError('environment-invalid', 'the environment is not usable', environment.problems)
}

async function programOf(environment: Environment, called: string | undefined): Promise<Command> {
  const program = new Command('grokbot')
    .description('Turns `/grok fix` into a proven, signed pull request. Not affiliated with xAI.')
    .version(version(), '--version')
    .helpCommand(false)
    .configureOutput({
      writeErr: text => process.stderr.write(escapeLines(text)),
      outputError: (text, write) => write(commandLineWords(text)),
    })
    .showHelpAfterError(`  see what there is: grokbot ${subCommands.some(({ name }) => name === called) ? `${called} ` : ''}--help`)
    .exitOverride(error => process.exit(error.exitCode === 0 ? 0 : exitCodes.usage))
  for (const { name, description, load } of subCommands) {
    const command = program.command(name).description(description)
    if (called === name) (await load()).define(command, environment)
  }
  return program
}

/** What the parser of command lines says, as an error of ours: the code behind its first line. */
function commandLineWords(text: string): string {
  const code: ProblemCode = 'command-line'
  return text.replace(/^error: ([^\n]*)/, `grokbot: $1 [${code}]`)
}

/** Node prints warnings of packages as they are; they are for those who look for faults. */
function muteWarnings(debug: boolean): void {
  if (!debug) process.removeAllListeners('warning')
}

/** A reader that goes away (`| head`) is no fault of ours: the work goes on and its words are dropped. */
function watchStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', error => {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    })
  }
}
