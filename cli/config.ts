import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { checkConfig } from './config/check.ts'
import { initConfig } from './config/init.ts'
import { showConfig } from './config/show.ts'

export function define(command: Command, environment: Environment): void {
  command
    .command('check')
    .argument('[file]', 'a file to check; its kind is told by --operator')
    .description("say where a configuration is wrong; default: the operator's file and this repository's")
    .option('--operator', "the file is an operator's")
    .option('--repo <dir>', "that repository's .github/grok.yml")
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one array')
    .action((file: string | undefined, options) => checkConfig(file, options, environment))
  command
    .command('show')
    .description('what is set, or with --effective everything that counts')
    .option('--effective', 'every value, defaults too')
    .option('--why', 'where each comes from')
    .option('--repo <dir>', 'with that repository, as committed')
    .option('--data <dir>', 'the data folder')
    .option('--json', 'print one object')
    .action(options => showConfig(options, environment))
  command
    .command('init')
    .description('write a first .github/grok.yml from what can be detected')
    .option('--repo <dir>', 'where', '.')
    .option('--operator', "write the operator's file instead")
    .option('--data <dir>', 'the data folder')
    .action(options => initConfig(options, environment))
}
