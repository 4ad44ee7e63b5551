export type ImportRow = { folder: string; mayImport: readonly string[]; packages: readonly string[] }

/** The table between the markers in ARCHITECTURE.md. */
export function readImportTable(text: string): ImportRow[] {
  const body = text.slice(text.indexOf('<!-- imports:begin -->'), text.indexOf('<!-- imports:end -->'))
  const ticked = (cell: string | undefined) => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(match => match[1] as string)
  return body
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line => {
      const [, folder, , mayImport, packages] = line.split('|')
      return { folder: ticked(folder)[0] ?? '', mayImport: ticked(mayImport), packages: ticked(packages) }
    })
}

const depthMax = 4

/**
 * One override for each folder and depth: other folders only where the table allows it, and then only by their door;
 * packages of one folder nowhere else. A relative import says how many folders it goes up, so the depth must be known.
 */
export function importRules(rows: readonly ImportRow[]) {
  return rows.flatMap(row => Array.from({ length: depthMax }, (_, index) => overrideOf(row, rows, index + 1)))
}

function overrideOf(row: ImportRow, rows: readonly ImportRow[], depth: number) {
  const up = '../'.repeat(depth)
  const others = rows.filter(other => other.folder !== row.folder)
  const forbidden = others.filter(other => !row.mayImport.includes(other.folder)).map(other => `${up}${other.folder}/**`)
  const foreign = others.flatMap(other => other.packages.flatMap(name => (name.endsWith('/**') ? [name] : [name, `${name}/**`])))
  const doors = row.mayImport.map(folder => ({
    group: [`${up}${folder}/**`, `!${up}${folder}/index.ts`],
    message: `Enter ${folder}/ through its index.ts.`,
  }))
  const patterns = [
    {
      group: [...forbidden, `${up}test/**`, `${up}bench/**`, `${up}tools/**`],
      message: `${row.folder}/ may not import this folder (ARCHITECTURE.md).`,
    },
    // What a row owns itself is free to it, also when another row owns the scope around it.
    { group: [...foreign, ...row.packages.map(name => `!${name}`)], message: 'This package belongs to another folder (ARCHITECTURE.md).' },
    ...doors,
  ]
  return {
    includes: [`${row.folder}/${'*/'.repeat(depth - 1)}*.ts`],
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options: { patterns } } } } },
  }
}
