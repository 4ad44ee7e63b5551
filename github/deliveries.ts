import type { Octokit } from '@octokit/rest'

/** One attempt of GitHub's to bring a delivery; a redelivery is another one of the same GUID. */
export type HookDelivery = {
  /** Beyond what a number holds: these ids have 64 bits. */
  id: string
  guid: string
  /** UTC milliseconds; when it was begun. */
  deliveredAt: number
  event: string
  action: string
  /** 0: nobody answered. */
  statusCode: number
  redelivery: boolean
}

export type HookDeliveries = { deliveries: HookDelivery[]; next: string | null }

const perPage = 100

/** One page of the App's deliveries, newest first; `cursor` is a page's `next`, null the first page's. */
export async function listHookDeliveries(asApp: Octokit, cursor: string | null): Promise<HookDeliveries> {
  const query = { per_page: perPage, ...(cursor === null ? {} : { cursor }) }
  const { data, headers } = await asApp.rest.apps.listWebhookDeliveries(query)
  const deliveries = data.map(({ id, guid, delivered_at, event, action, status_code, redelivery }) => ({
    id: String(id),
    guid,
    deliveredAt: Date.parse(delivered_at),
    event,
    action: action ?? '',
    statusCode: status_code,
    redelivery,
  }))
  return { deliveries, next: cursorOf(headers.link) }
}

/** Asks for it once more, with the same GUID and bytes. GitHub sends it soon, and lists what comes of it as another attempt. */
export async function redeliver(asApp: Octokit, id: string): Promise<void> {
  // As text: older versions of Octokit leave a bigint out of the path without a word.
  await asApp.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: id as unknown as number })
}

function cursorOf(link: string | undefined): string | null {
  const [, url = null] = /<([^>]+)>;\s*rel="next"/.exec(link ?? '') ?? []
  return url === null ? null : new URL(url).searchParams.get('cursor')
}
