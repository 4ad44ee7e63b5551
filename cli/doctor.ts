import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { dataFolderOf } from './data-folder.ts'
import { checkCommands } from './doctor/check-commands.ts'
import { checkData } from './doctor/check-data.ts'
import { checkEndpoints } from './doctor/check-endpoints.ts'
import { checkPrograms } from './doctor/check-programs.ts'
import { checkSandbox } from './doctor/check-sandbox.ts'
import type { Finding } from './doctor/finding.ts'
import { escapeText, toSafeJson } from './escape.ts'
import { exitCodes } from './exit.ts'

type Options = { data?: string; json?: boolean }

export function define(command: Command, environment: Environment): void {
  command
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one object')
    .addHelpText('after', '\nEach part is tried, not guessed. Exit: 0 when nothing is broken, 1 when something is.')
  command.action((options: Options) => doctor(options, environment))
}

/** Tries each part of the road on this machine, and says what is wrong with it and the command that mends it. */
async function doctor(options: Options, environment: Environment): Promise<void> {
  const dataDir = dataFolderOf(environment, options.data)
  const findings: Finding[] = []
  // One after another: the sandbox's canaries must not be disturbed by what else is tried.
  for (const check of [checkPrograms, checkData, checkSandbox, checkCommands, checkEndpoints]) {
    for (const finding of await check(environment, dataDir)) {
      findings.push(finding)
      if (!options.json) process.stdout.write(`${textOf(finding)}\n`)
    }
  }
  const worst = findings.some(({ state }) => state === 'broken')
    ? 'broken'
    : findings.some(({ state }) => state === 'degraded')
      ? 'degraded'
      : 'ok'
  if (options.json) process.stdout.write(`${toSafeJson({ state: worst, findings })}\n`)
  else process.stdout.write(`${summaries[worst]}\n`)
  if (worst === 'broken') process.exitCode = exitCodes.failed
}

const summaries = {
  ok: 'everything works here',
  degraded: 'it works, apart from what is marked degraded',
  broken: 'something is broken: mend it and start doctor again',
} as const

function textOf({ part, state, what, mend }: Finding): string {
  const line = `${state.padEnd(9)} ${part.padEnd(20)} ${escapeText(what)}`
  return mend === null ? line : `${line}\n${' '.repeat(10)}${'next'.padEnd(20)} ${escapeText(mend)}`
}
