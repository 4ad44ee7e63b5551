import { printedUsage, wrongUsage } from '../tools/usage.ts'

/**
 * `./dev bench [NAME …] [arguments]`: one file measures one thing, beside the floor of the same run. Without a name it lists
 * what there is.
 */
type Bench = { what: string; options: readonly string[]; values: string; load(): Promise<unknown> }
const benches: Readonly<Record<string, Bench>> = {
  turn: {
    what: 'one turn, a whole run, start, memory, recovery: the built program',
    options: ['--rounds', '--only'],
    values: '',
    load: () => import('./turn.ts'),
  },
  workspace: {
    what: 'a work tree of a mirrored repository',
    options: ['--files', '--rounds', '--folder'],
    values: '',
    load: () => import('./workspace.ts'),
  },
  'session-prefix': { what: 'the session alone over 200 turns', options: [], values: '[TURNS]', load: () => import('./session-prefix.ts') },
  'sandbox-command': {
    what: 'a command in a sandbox, file host calls',
    options: [],
    values: '[ROUNDS]',
    load: () => import('./sandbox-command.ts'),
  },
  'ledger-append': { what: 'one event made durable', options: [], values: '', load: () => import('./ledger-append.ts') },
  'ledger-claim': { what: 'a claim with 10,000 tasks waiting', options: [], values: '', load: () => import('./ledger-claim.ts') },
  'ledger-deliveries': {
    what: 'deliveries made durable a second, by the ledger alone',
    options: [],
    values: '[CLIENTS [BYTES]]',
    load: () => import('./ledger-deliveries.ts'),
  },
  queue: {
    what: 'from a delivery to the first model request, both bells',
    options: ['--tasks'],
    values: '',
    load: () => import('./queue.ts'),
  },
  intake: {
    what: 'deliveries through the real receiver, beside Probot; all else stalled',
    options: ['--clients', '--bytes', '--seconds', '--rounds'],
    values: '',
    load: () => import('./intake.ts'),
  },
  fold: { what: 'the state of 10,000 events', options: [], values: '', load: () => import('./fold.ts') },
}
const usage = [
  'usage: ./dev bench NAME … [arguments]; each name takes the arguments that stand behind the last one',
  ...Object.entries(benches).map(([name, { what, options, values }]) => {
    const taken = [...options.map(option => `[${option} …]`), values].filter(text => text !== '').join(' ')
    return `  ${name.padEnd(18)} ${what}${taken === '' ? '' : `  ${taken}`}`
  }),
].join('\n')

const words = process.argv.slice(2)
const firstArgument = words.findIndex(word => /^(?:-|\d)/.test(word))
const names = firstArgument < 0 ? words : words.slice(0, firstArgument)
const rest = firstArgument < 0 ? [] : words.slice(firstArgument)

if (!printedUsage(usage)) {
  if (words.length === 0) process.stdout.write(`${usage}\n`)
  else {
    const chosen = names.map(name => benches[name] ?? wrongUsage(`there is no bench ${name}`, usage))
    if (chosen.length === 0) wrongUsage('name a bench', usage)
    checkArguments(chosen)
    for (const bench of chosen) {
      // Each reads its own arguments where it would find them when started alone.
      process.argv.splice(2, process.argv.length, ...rest)
      await bench.load()
    }
  }
}

function checkArguments(chosen: readonly Bench[]): void {
  for (const [index, word] of rest.entries()) {
    const isOption = word.startsWith('-')
    const belongsToOption = !isOption && rest[index - 1]?.startsWith('-') === true && !rest[index - 1]?.includes('=')
    if (belongsToOption) continue
    const option = word.split('=')[0] ?? ''
    const isTaken = chosen.every(({ options, values }) => (isOption ? options.includes(option) : values !== ''))
    if (!isTaken) wrongUsage(`${names.join(' and ')}: ${word} is not taken`, usage)
    if (isOption && !word.includes('=') && (rest[index + 1] ?? '-').startsWith('-')) wrongUsage(`${word} needs a value`, usage)
  }
}
