import type { Command } from 'commander'
import type { Environment } from '../config-schema/index.ts'

export type SubCommand = { define(command: Command, environment: Environment): void }

/** The table the help, the documentation and the dispatch are made from. */
export const subCommands: readonly { name: string; description: string; load(): Promise<SubCommand> }[] = [
  { name: 'run', description: 'work on one command in a local repository; the result is a patch', load: () => import('./run.ts') },
  { name: 'serve', description: 'receive webhooks and work on them, all in one process', load: () => import('./serve.ts') },
  { name: 'app', description: 'receive webhooks and hand the work to workers, by way of Redis', load: () => import('./app.ts') },
  { name: 'worker', description: 'work on what an app has accepted; any number of them', load: () => import('./worker.ts') },
  { name: 'demo', description: 'show the whole road on a fake GitHub, from a comment to a pull request', load: () => import('./demo.ts') },
  { name: 'verify', description: 'check the receipts of a task, offline', load: () => import('./verify.ts') },
  { name: 'runs', description: 'list tasks, or show one', load: () => import('./runs.ts') },
  {
    name: 'replay',
    description: 'read the events of a task again: a timeline, and whether the chain verifies',
    load: () => import('./replay.ts'),
  },
  { name: 'stop', description: 'end a task and keep its work so far', load: () => import('./stop.ts') },
  { name: 'switch', description: 'the kill switch: pull it, clear it, or say how it stands', load: () => import('./switch.ts') },
  { name: 'data', description: 'erase or export what is kept of a task', load: () => import('./data.ts') },
  {
    name: 'simulate',
    description: 'play one recorded webhook against a fake GitHub and show every effect',
    load: () => import('./simulate.ts'),
  },
  { name: 'deliver', description: 'sign a recorded webhook and send it to a running server', load: () => import('./deliver.ts') },
  { name: 'config', description: 'check, show or begin the configuration', load: () => import('./config.ts') },
  { name: 'sandbox', description: 'run a command in a sandbox profile, or show what a profile gives', load: () => import('./sandbox.ts') },
  { name: 'explain', description: 'what an error code means and what to do about it', load: () => import('./explain.ts') },
  { name: 'doctor', description: 'try every part on this machine and say what mends it', load: () => import('./doctor.ts') },
]
