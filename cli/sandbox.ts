import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { execInSandbox } from './sandbox/exec.ts'
import { showProfile } from './sandbox/show.ts'

export function define(command: Command, environment: Environment): void {
  command
    .command('exec')
    .argument('<argv...>', 'the command, after --')
    .description('run one command as a task would: its output to standard output, its exit code as ours')
    .requiredOption('--profile <name>', 'workspace, read-only, strict, review, devbox or off')
    .option('--repo <dir>', 'in a copy of its last commit; default: an empty folder')
    .option('--wall <seconds>', 'kill it after so long', '300')
    .option('--data <dir>', 'the data folder, for its operator.yml')
    .option('--json', 'print one object')
    .action((argv: string[], options) => execInSandbox(argv, options, environment))
  command
    .command('show')
    .argument('<profile>')
    .description('what a profile gives, and what it is measured to give here')
    .option('--data <dir>', 'the data folder, for its operator.yml')
    .option('--json', 'print one object')
    .action((profile: string, options) => showProfile(profile, options, environment))
}
