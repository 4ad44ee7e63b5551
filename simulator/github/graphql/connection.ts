import type { Arguments, Problem, Thing } from './types.ts'

const pageMax = 100

/** One page of a list. GitHub insists on being told how many, and gives no more than a hundred. */
export function paginateConnection(name: string, type: string, args: Arguments, things: Thing[]): Thing | Problem {
  const [side, asked] = typeof args.first === 'number' ? (['first', args.first] as const) : (['last', args.last] as const)
  if (typeof asked !== 'number') {
    const message = `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`
    return { problem: 'MISSING_PAGINATION_BOUNDARIES', message }
  }
  if (asked > pageMax) {
    const message = `Requesting ${asked} records on the \`${name}\` connection exceeds the \`${side}\` limit of ${pageMax} records.`
    return { problem: 'EXCESSIVE_PAGINATION', message }
  }
  const low = typeof args.after === 'string' ? readCursor(args.after) : 0
  const high = typeof args.before === 'string' ? readCursor(args.before) - 1 : things.length
  const from = side === 'first' ? low : Math.max(low, high - asked)
  const to = side === 'first' ? Math.min(high, low + asked) : high
  const edges = things.slice(from, to).map((node, at) => ({ cursor: writeCursor(from + at + 1), node }))
  const fields = {
    nodes: edges.map(each => each.node),
    edges: edges.map(each => ({ type: `${type}Edge`, fields: each }) satisfies Thing),
    totalCount: things.length,
    pageInfo: {
      type: 'PageInfo',
      fields: {
        hasNextPage: to < things.length,
        hasPreviousPage: from > 0,
        startCursor: edges[0]?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
      },
    } satisfies Thing,
  }
  return { type: `${type}Connection`, fields }
}

/** The place in the list, from 1; opaque to who reads it. */
function writeCursor(place: number): string {
  return Buffer.from(`cursor:v2:${place}`).toString('base64')
}

function readCursor(cursor: string): number {
  return Number(/^cursor:v2:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1] ?? 0)
}
