import { readdirSync, readFileSync } from 'node:fs'

export type Memory = { pssMb: number; rssMb: number; processes: number }

/**
 * What a process and all its descendants hold. Pages that several share are counted once by PSS and once each by RSS. A
 * process that ends while it is looked at counts as nothing.
 */
export function readTreeMemory(pid: number): Memory {
  const parents = new Map(readPids().map(each => [each, parentOf(each)] as const))
  const tree = [...parents.keys()].filter(each => isBelow(each, pid, parents))
  const total = { pssMb: 0, rssMb: 0, processes: tree.length }
  for (const each of tree) {
    const text = read(`/proc/${each}/smaps_rollup`)
    total.pssMb += kilobytes(text, 'Pss') / 1024
    total.rssMb += kilobytes(text, 'Rss') / 1024
  }
  return total
}

function readPids(): number[] {
  return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? [Number(name)] : []))
}

function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`)
  // The name stands in brackets and may hold anything, brackets too.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

function isBelow(pid: number, root: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at = pid; at > 1; at = parents.get(at) ?? 0) if (at === root) return true
  return false
}

function kilobytes(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
