import { openSandbox, type SandboxOptions } from '../../sandbox/index.ts'

/** A worker for the test that kills it: opens a sandbox, starts a command that leaves daemons, and says so. */
const [options = '{}', mark = ''] = process.argv.slice(2)
const sandbox = await openSandbox(JSON.parse(options) as SandboxOptions)
await sandbox.files?.list('.', 1)
void sandbox.run({
  argv: ['bash', '-c', `setsid sleep ${mark} & nohup sleep ${mark} & echo started; sleep ${mark}`],
  onOutput: () => process.stdout.write('ready\n'),
})
