import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { format } from 'node:util'
import * as z from 'zod'
import { sessionLimits } from '../agent/limits.ts'
import { appLimits } from '../app/limits.ts'
import { pagesLimits } from '../app/pages/limits.ts'
import { cliLimits } from '../cli/limits.ts'
import { metricGroups } from '../cli/metrics/metric-table.ts'
import { subCommands } from '../cli/sub-commands.ts'
import { limitTable, RepositoryConfig } from '../config-schema/index.ts'
import { areas, catalogue, commandTable, eventTypes, problemCodes } from '../domain/index.ts'
import { domainLimits } from '../domain/limits.ts'
import { effectsLimits } from '../effects/limits.ts'
import { gitLimits } from '../git/limits.ts'
import { ledgerLimits } from '../ledger/limits.ts'
import { queueLimits } from '../queue/limits.ts'
import { engineLimits, sandboxLimitDefaults } from '../sandbox/limits.ts'
import { crashpointNames, crashpointPlaces, type MetricRow } from '../telemetry/index.ts'
import { telemetryLimits } from '../telemetry/limits.ts'
import { workerLimits } from '../worker/limits.ts'
import { eventMeanings } from './event-meanings.ts'
import { importRules, readImportTable } from './import-rules.ts'

/** Makes everything that is made from a table. `--check` writes nothing and fails when a file is stale. */
const root = path.resolve(import.meta.dirname, '..')
const read = (name: string) => readFileSync(path.join(root, name), 'utf8')
const check = process.argv.includes('--check')
const stale: string[] = []

function write(name: string, content: string) {
  let current: string | null = null
  try {
    current = read(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  if (current === content) return
  if (check) stale.push(name)
  else writeFileSync(path.join(root, name), content)
}

/** Puts `rows` between the markers `<!-- name:begin -->` and `<!-- name:end -->` of a document. */
function fill(file: string, name: string, rows: string) {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`]
  const text = read(file)
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(format('%s has no markers for %s', file, name))
  write(file, `${text.slice(0, from + begin.length)}\n${rows}\n${text.slice(to)}`)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** What the folders keep for themselves: the values from the tables, the reasons from the comments above them. */
function fixedLimits(): string[][] {
  const tables = [
    { of: 'agent', file: 'agent/limits.ts', limits: { ...sessionLimits } },
    { of: 'app', file: 'app/limits.ts', limits: { ...appLimits } },
    { of: 'app', file: 'app/pages/limits.ts', limits: { ...pagesLimits } },
    { of: 'cli', file: 'cli/limits.ts', limits: { ...cliLimits } },
    { of: 'domain', file: 'domain/limits.ts', limits: { ...domainLimits } },
    { of: 'effects', file: 'effects/limits.ts', limits: { ...effectsLimits } },
    { of: 'git', file: 'git/limits.ts', limits: { ...gitLimits } },
    { of: 'ledger', file: 'ledger/limits.ts', limits: { ...ledgerLimits } },
    { of: 'queue', file: 'queue/limits.ts', limits: { ...queueLimits } },
    { of: 'sandbox', file: 'sandbox/limits.ts', limits: { ...sandboxLimitDefaults, ...engineLimits } },
    { of: 'telemetry', file: 'telemetry/limits.ts', limits: { ...telemetryLimits } },
    { of: 'worker', file: 'worker/limits.ts', limits: { ...workerLimits } },
  ]
  return tables.flatMap(({ of, file, limits }) => {
    const reasons = reasonsIn(read(file))
    // One whose line names the table above is settable, and stands there.
    const fixed = Object.entries(limits).filter(([name]) => !reasons.get(name)?.settable)
    return fixed.map(([name, value]) => [`\`${name}\``, String(value), unitOf(name), reasons.get(name)?.why ?? '', of])
  })
}

function reasonsIn(source: string): Map<string, { why: string; settable: boolean }> {
  const rows = source.matchAll(/^(?: {2}\/\*\* ([^\n]*?) ?\*\/\n)? {2}(\w+): ([^\n]*)$/gm)
  return new Map([...rows].map(([, why = '', name = '', value = '']) => [name, { why, settable: value.includes('limitTable.') }]))
}

function unitOf(name: string): string {
  const units = {
    Ms: 'milliseconds',
    Bytes: 'bytes',
    Seconds: 'seconds',
    Chars: 'characters',
    Characters: 'characters',
    Percent: 'percent',
    Tokens: 'tokens',
  }
  const found = Object.entries(units).find(
    ([suffix]) => new RegExp(`${suffix}(?:Max|Min|Default)?$`).test(name) || (suffix === 'Ms' && /Ms(?:Max)?$|MaxMs$/.test(name)),
  )
  return found?.[1] ?? 'count'
}

/** One heading for each code: that is its address. */
function errorsOf(area: (typeof areas)[number]): string {
  const titles = {
    start: 'What does not start',
    command: 'Why a comment starts nothing',
    run: 'How a task ends without success',
    delivery: 'Why a change is kept as a patch',
  }
  const entries = problemCodes.filter(code => catalogue[code].area === area)
  return [
    `## ${titles[area]}`,
    ...entries.map(code => {
      const { what, why, next } = catalogue[code]
      return [`### ${code}`, `${what} ${why}`, next.map(text => `- ${text}`).join('\n')].join('\n\n')
    }),
  ].join('\n\n')
}

const biome = JSON.parse(read('biome.json')) as { overrides: { generated?: boolean; includes: string[] }[] }
const rules = importRules(readImportTable(read('ARCHITECTURE.md')))
const byHand = biome.overrides.filter(override => !override.includes.every(glob => rules.some(rule => rule.includes.includes(glob))))
write('biome.json', `${JSON.stringify({ ...biome, overrides: [...byHand, ...rules] }, null, 2)}\n`)

fill(
  'docs/limits.md',
  'limits',
  table(
    ['limit', 'default', 'why', 'a repository may lower it'],
    Object.entries(limitTable).map(([name, limit]) => [
      `\`${name}\``,
      String(limit.default),
      limit.why,
      'repository' in limit ? 'yes' : 'no',
    ]),
  ),
)
fill('docs/limits.md', 'fixed', table(['limit', 'value', 'unit', 'why', 'of'], fixedLimits()))
fill(
  'docs/commands.md',
  'commands',
  table(
    ['command', 'where', 'needs', 'what it does'],
    commandTable.map(row => [
      `\`/grok ${row.verb}\``,
      row.where.map(place => (place === 'issue' ? 'issues' : 'pull requests')).join(', '),
      row.needs,
      row.help,
    ]),
  ),
)
fill(
  'docs/cli.md',
  'sub-commands',
  table(
    ['sub-command', 'what it does'],
    subCommands.map(({ name, description }) => [`\`${name}\``, description]),
  ),
)
fill(
  'docs/operations.md',
  'metrics',
  table(
    ['metric', 'type', 'labels', 'of', 'what'],
    metricGroups.flatMap(({ roles, metrics }) =>
      Object.entries<MetricRow>(metrics).map(([name, { type, labels = {}, help }]) => [
        `\`${name}\``,
        type,
        Object.keys(labels).join(', '),
        roles.join(', '),
        help,
      ]),
    ),
  ),
)
fill('docs/errors.md', 'errors', areas.map(errorsOf).join('\n\n'))
fill(
  'docs/events.md',
  'events',
  table(
    ['event', 'what it records'],
    eventTypes.map(type => [`\`${type}\``, eventMeanings[type]]),
  ),
)
fill(
  'docs/crash-points.md',
  'crash-points',
  [...crashpointNames.map(name => `- \`${name}\``), '- `event.<type>.before` and `event.<type>.after` for every event type'].join('\n'),
)
fill(
  'docs/crash-points.md',
  'places',
  table(
    ['', 'place', 'points'],
    crashpointPlaces.map(([place, points], index) => [String(index + 1), place, points.map(name => `\`${name}\``).join(', ')]),
  ),
)
write('docs/grok.schema.json', `${JSON.stringify(z.toJSONSchema(RepositoryConfig), null, 2)}\n`)

if (stale.length > 0) {
  process.stderr.write(`stale: ${stale.join(', ')}; run ./dev generate\n`)
  process.exitCode = 1
}
