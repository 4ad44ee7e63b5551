import type { components } from '@octokit/openapi-types'
import { type Links, nodeId, time } from '../links.ts'
import type { App, Installation } from '../state.ts'
import { renderAccount } from './account.ts'

export function renderApp(links: Links, app: App, installations?: number) {
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('A', app.id),
    client_id: app.clientId,
    owner: renderAccount(links, app.owner),
    name: app.name,
    description: '',
    external_url: `${links.web}/apps/${app.slug}`,
    html_url: `${links.web}/apps/${app.slug}`,
    created_at: time(app.createdAt),
    updated_at: time(app.createdAt),
    permissions: app.permissions,
    events: app.events,
    ...(installations === undefined ? {} : { installations_count: installations }),
  } satisfies components['schemas']['integration']
}

export function renderInstallation(links: Links, app: App, installation: Installation) {
  const { account } = installation
  return {
    id: installation.id,
    account: renderAccount(links, account),
    repository_selection: installation.selection ? 'selected' : 'all',
    access_tokens_url: `${links.api}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${links.api}/installation/repositories`,
    html_url: `${links.web}/settings/installations/${installation.id}`,
    app_id: app.id,
    client_id: app.clientId,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: installation.events,
    created_at: time(installation.createdAt),
    updated_at: time(installation.createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    // Who did it is not kept; the account's own owner is as good as any.
    suspended_by: installation.suspendedAt === null ? null : renderAccount(links, account),
    suspended_at: installation.suspendedAt === null ? null : time(installation.suspendedAt),
  } satisfies components['schemas']['installation']
}
