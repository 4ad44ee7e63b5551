import { type Answer, ok } from './answer.ts'

const perPageDefault = 30
const perPageMax = 100

/** One page of a list with GitHub's Link header. `wrap` makes the object some lists are put in. */
export function paginate<T>(
  call: { query: URLSearchParams; url: string },
  items: readonly T[],
  wrap: (page: T[], total: number) => unknown = page => page,
): Answer {
  const size = Math.min(readCount(call.query.get('per_page'), perPageDefault), perPageMax)
  const page = readCount(call.query.get('page'), 1)
  const last = Math.max(1, Math.ceil(items.length / size))
  const relations: [string, number][] = []
  if (page > 1) relations.push(['prev', page - 1])
  if (page < last) relations.push(['next', page + 1], ['last', last])
  if (page > 1) relations.push(['first', 1])
  const link = relations.map(([rel, number]) => `<${pageUrl(call, number)}>; rel="${rel}"`).join(', ')
  const slice = items.slice((page - 1) * size, page * size)
  return ok(wrap(slice, items.length), link === '' ? {} : { link })
}

function pageUrl(call: { query: URLSearchParams; url: string }, page: number): string {
  const query = new URLSearchParams(call.query)
  query.set('page', String(page))
  return `${call.url}?${query}`
}

function readCount(text: string | null, otherwise: number): number {
  const value = Number(text)
  return text !== null && Number.isInteger(value) && value > 0 ? value : otherwise
}
