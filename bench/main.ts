/**
 * `./dev bench [NAME] [arguments]`: one file measures one thing, beside the floor of the same run. Without a name it lists
 * what there is.
 */
const benches: Readonly<Record<string, { what: string; load(): Promise<unknown> }>> = {
  turn: { what: 'one turn, a whole run, start, memory, recovery: the built program', load: () => import('./turn.ts') },
  workspace: { what: 'a work tree of a mirrored repository', load: () => import('./workspace.ts') },
  'session-prefix': { what: 'the session alone over 200 turns', load: () => import('./session-prefix.ts') },
  'sandbox-command': { what: 'a command in a sandbox, file host calls', load: () => import('./sandbox-command.ts') },
  'ledger-append': { what: 'one event made durable', load: () => import('./ledger-append.ts') },
  'ledger-deliveries': { what: 'signed deliveries made durable a second', load: () => import('./ledger-deliveries.ts') },
  fold: { what: 'the state of 10,000 events', load: () => import('./fold.ts') },
}

const [name, ...rest] = process.argv.slice(2)
const chosen = name === undefined ? undefined : benches[name]
if (chosen) {
  // Each reads its own arguments where it would find them when started alone.
  process.argv.splice(2, process.argv.length, ...rest)
  await chosen.load()
} else {
  for (const [each, { what }] of Object.entries(benches)) process.stdout.write(`${each.padEnd(18)} ${what}\n`)
  process.exitCode = name === undefined ? 0 : 2
}
