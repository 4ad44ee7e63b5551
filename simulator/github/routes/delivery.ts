import type { components } from '@octokit/openapi-types'
import { type Answer, notFound, ok } from '../answer.ts'
import { deliver } from '../deliver.ts'
import { route } from '../route.ts'
import type { Delivery } from '../state.ts'

const perPageDefault = 30
const perPageMax = 100

export const deliveryRoutes = [
  route({
    method: 'GET',
    path: '/app/hook/deliveries',
    permission: 'app',
    // This list goes by cursor, newest first: the id of the last delivery seen, in the Link header.
    apply: ({ state, query, url }): Answer => {
      const size = Math.min(Number(query.get('per_page')) || perPageDefault, perPageMax)
      const before = Number(query.get('cursor')) || Number.POSITIVE_INFINITY
      const wanted = query.get('status')
      const listed = state.deliveries.filter(each => each.id < before && (!wanted || (wanted === 'failure') === isFailure(each))).reverse()
      const page = listed.slice(0, size)
      const last = page.at(-1)
      const more = last !== undefined && listed.length > size
      const next = new URLSearchParams(query)
      if (last) next.set('cursor', String(last.id))
      return ok(page.map(renderItem), more ? { link: `<${url}?${next}>; rel="next"` } : {})
    },
  }),
  route({
    method: 'GET',
    path: '/app/hook/deliveries/{delivery_id}',
    permission: 'app',
    apply: ({ state, params }) => {
      const found = state.deliveries.find(each => each.id === Number(params.delivery_id))
      if (!found) return notFound()
      return ok({
        ...renderItem(found),
        url: found.url,
        request: { headers: found.requestHeaders, payload: JSON.parse(found.body.toString()) },
        response: { headers: {}, payload: found.responseBody },
      })
    },
  }),
  route({
    method: 'POST',
    path: '/app/hook/deliveries/{delivery_id}/attempts',
    permission: 'app',
    apply: ({ state, params }) => {
      const found = state.deliveries.find(each => each.id === Number(params.delivery_id))
      if (!found) return notFound()
      // Accepted now, sent by itself, with the same GUID and the same bytes.
      setImmediate(() => deliver(state, { event: found.event, payload: found.body, to: found.url, id: found.guid }))
      return { status: 202, json: {} }
    },
  }),
]

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
