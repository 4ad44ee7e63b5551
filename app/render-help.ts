import { commandTable } from '../domain/index.ts'

/** Made from the command table: what is listed works. */
export function renderHelp(prefix: string): string {
  const rows = commandTable.map(row => `| \`${prefix} ${row.verb}\` | ${row.help} | ${row.needs} |`)
  return ['**grok help**', '', '| command | what it does | needs |', '|---|---|---|', ...rows].join('\n')
}
