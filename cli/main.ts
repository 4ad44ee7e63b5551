#!/usr/bin/env node
import { Command } from 'commander'
import { readEnvironment } from '../config-schema/index.ts'
import { armCrashpoint } from '../telemetry/index.ts'
import { exitCodes, UsageError } from './exit.ts'
import { subCommands } from './sub-commands.ts'

/** `grokbot <sub-command>`: one file each, loaded only when it is called, so that a short command starts quickly. */
const environment = readEnvironment()
if (environment.kind === 'invalid') fail(new UsageError('the environment is not usable', environment.problems))
else {
  armCrashpoint(environment.values.GROKBOT_CRASHPOINT)
  const program = new Command('grokbot')
    .description('Turns `/grok fix` into a proven, signed pull request. Not affiliated with xAI.')
    .helpCommand(false)
    .exitOverride(error => process.exit(error.exitCode === 0 ? 0 : exitCodes.usage))
  const { values } = environment
  for (const { name, description, load } of subCommands) {
    const command = program.command(name).description(description)
    if (process.argv[2] === name || process.argv.includes('--help')) (await load()).define(command, values)
  }
  try {
    await program.parseAsync()
  } catch (error) {
    fail(error)
  }
}

function fail(error: unknown): void {
  if (error instanceof UsageError) {
    process.stderr.write([`grokbot: ${error.message}`, ...error.hints.map(hint => `  ${hint}`), ''].join('\n'))
    process.exitCode = exitCodes.usage
    return
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const verbose = environment.kind === 'read' && environment.values.LOG_LEVEL === 'debug'
  process.stderr.write(`grokbot: broken: ${verbose ? stack : `${message} (LOG_LEVEL=debug shows where)`}\n`)
  process.exitCode = exitCodes.failed
}
