import type { components } from '@octokit/openapi-types'
import { type Answer, notFound, ok, refused } from '../answer.ts'
import { deliver } from '../deliver.ts'
import { type Call, route } from '../route.ts'
import type { Delivery, GitHubState } from '../state.ts'

const perPageDefault = 30
const perPageMax = 100
/** GitHub forgets deliveries after three days, in milliseconds. */
const keptMs = 3 * 24 * 3_600_000

export const deliveryRoutes = [
  route({ method: 'GET', path: '/app/hook/deliveries', permission: 'app', apply: call => list(call) }),
  route({
    method: 'GET',
    path: '/app/hook/deliveries/{delivery_id}',
    permission: 'app',
    apply: ({ state, params }) => {
      const found = findDelivery(state, params.delivery_id)
      if (!found) return notFound()
      return ok({
        ...renderItem(found),
        url: found.url,
        request: { headers: found.requestHeaders, payload: readPayload(found.body) },
        response: { headers: {}, payload: found.responseBody },
      })
    },
  }),
  route({
    method: 'POST',
    path: '/app/hook/deliveries/{delivery_id}/attempts',
    permission: 'app',
    apply: ({ state, params }) => {
      const found = findDelivery(state, params.delivery_id)
      if (!found) return notFound()
      // Accepted now, sent by itself, with the same GUID and the same bytes, to where the App listens by now.
      const wish = { event: found.event, payload: found.body, to: state.webhookUrl ?? found.url, id: found.guid }
      const sent = deliver(state, wish).finally(() => state.sending.delete(sent))
      state.sending.add(sent)
      return { status: 202, json: {} }
    },
  }),
]

/** By cursor, newest first: where the last page ended stands in the Link header, and nothing can be read from it. */
function list({ state, query, url }: Call<''>): Answer {
  const size = Math.min(Number(query.get('per_page')) || perPageDefault, perPageMax)
  const cursor = query.get('cursor')
  const before = cursor === null ? Number.POSITIVE_INFINITY : readCursor(cursor)
  if (before === null) return refused(400, 'Invalid cursor')
  const wanted = query.get('status')
  if (wanted !== null && wanted !== 'success' && wanted !== 'failure') return refused(422, 'Invalid status')
  const listed = kept(state).filter(each => each.id < before && (!wanted || (wanted === 'failure') === isFailure(each)))
  const page = listed.reverse().slice(0, size)
  const last = page.at(-1)
  const next = new URLSearchParams(query)
  if (last) next.set('cursor', writeCursor(last.id))
  return ok(page.map(renderItem), last && listed.length > size ? { link: `<${url}?${next}>; rel="next"` } : {})
}

function writeCursor(id: number): string {
  return `v1_${Buffer.from(String(id)).toString('base64url')}`
}

function readCursor(cursor: string): number | null {
  const id = cursor.startsWith('v1_') ? Number(Buffer.from(cursor.slice(3), 'base64url').toString()) : Number.NaN
  return Number.isInteger(id) ? id : null
}

function kept(state: GitHubState): Delivery[] {
  return state.deliveries.filter(each => each.deliveredAt > state.now() - keptMs)
}

function findDelivery(state: GitHubState, id: string): Delivery | undefined {
  return kept(state).find(each => each.id === Number(id))
}

function readPayload(body: Buffer): object {
  try {
    return JSON.parse(body.toString())
  } catch {
    // Only a test sends what is no JSON.
    return {}
  }
}

function isFailure(delivery: Delivery): boolean {
  return delivery.statusCode < 200 || delivery.statusCode >= 400
}

function renderItem(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: new Date(delivery.deliveredAt).toISOString(),
    redelivery: delivery.redelivery,
    duration: delivery.durationMs / 1000,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  } satisfies components['schemas']['hook-delivery-item']
}
