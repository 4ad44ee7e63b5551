import { type Command, Option } from 'commander'
import type { Environment } from '../config-schema/index.ts'
import { runCommand } from './run/run-command.ts'

export type RunOptions = {
  repo: string
  issue?: string
  base?: string
  data?: string
  modelScript?: string
  resume?: string
  apply?: boolean
  json?: boolean
  streamJson?: boolean
  quiet?: boolean
  verbose: 0 | 1 | 2
  plain?: boolean
  thread?: boolean
}

export function define(command: Command, environment: Environment): void {
  command
    .argument('[command...]', 'what is asked, as in a comment: "/grok fix the parser"')
    .option('--repo <dir>', 'the repository; it is read and never changed without --apply', '.')
    .option('--issue <file>', 'what it is about: the first line is the title, the rest the text')
    .option('--base <ref>', 'the commit to start from', undefined)
    .option('--apply', 'put the change into the work tree and the index when it is proven')
    .option('--resume <task>', 'go on with a task whose process died')
    .option('--model-script <file>', 'a JSON array of turns in place of a model')
    .option('--data <dir>', "the data folder; by default this user's own")
    .option('--json', 'print one object, last')
    .option('--stream-json', 'print one object a line for each event, the result last')
    .option('-q, --quiet', 'only the final report')
    .option(
      '-v, --verbose',
      'the output of each command; twice: the words of the model too',
      (_, times: number) => Math.min(2, times + 1),
      0,
    )
    .option('--plain', 'one line an event, nothing is redrawn')
    .addOption(new Option('--thread', 'the session in a thread of its own, as in serve').hideHelp())
    .addHelpText('after', exitHelp)
  command.action((words: string[], options: RunOptions) => runCommand(words, options, environment))
}

const exitHelp = `
The result goes to standard output, progress to standard error. Files: .grok/out/<task>.patch and .json in the repository.
Exit: 0 done and proven, 1 failed, 2 usage or configuration, 3 refused, 4 budget or time, 130 cancelled.`
