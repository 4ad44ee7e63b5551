import { generateKeyPairSync } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addAccount } from './add-account.ts'
import { type DeliveryWish, deliver } from './deliver.ts'
import type { FaultHandle, FaultRule } from './fault.ts'
import type { Observe } from './observe.ts'
import { createPayloads, type Payloads } from './payload.ts'
import { writeHooks } from './push-rules.ts'
import { listRefs } from './repository-git.ts'
import { routes } from './routes/index.ts'
import { startServer } from './server.ts'
import { type Delivery, type GitHubState, type Permissions, type RequestRecord, requireRepository } from './state.ts'
import { createWebhook } from './webhook.ts'
import { createWorld, type World } from './world/world.ts'

export type GitHubOptions = {
  port?: number
  appSlug?: string
  webhookSecret?: string
  /** What each installation grants; the default is what the product asks for. */
  permissions?: Permissions
  now?: () => number
}

export type FakeGitHub = World & {
  /** The API's base URL, for Octokit's `baseUrl` and `GHE` settings. */
  url: string
  /** The web pages' base: every `html_url` starts with it. */
  webUrl: string
  gitUrl(owner: string, name: string): string
  appId: number
  appPrivateKey: string
  appSlug: string
  webhookSecret: string
  /** Typed and readable; tests may write to it as well. */
  state: GitHubState
  /** Refs are not in `state`: they are what the bare repository says now. */
  refs(repo: string): Promise<Record<string, string>>
  payload: Payloads
  deliver(wish: DeliveryWish): Promise<Delivery>
  /** From now on each change is sent there by itself, also those the App makes; null stops it. */
  setWebhook(url: string | null): void
  /** Resolves when no delivery of `setWebhook`, and no redelivery, is under way. */
  webhooksSettled(): Promise<void>
  fail(rule: FaultRule): FaultHandle
  clearFaults(): void
  setReadLag(ms: number): void
  /** Requests in order, optionally only those of one row. */
  requests(route?: string): RequestRecord[]
  assertNoUnknownRequests(): void
  /** From now on it is told of each request that met a row, and of its answer. */
  observe(listener: Observe): void
  close(): Promise<void>
}

const defaultPermissions: Permissions = {
  metadata: 'read',
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  checks: 'write',
  actions: 'read',
}
/** First ids handed out: above 32 bits, as some of GitHub's are by now. */
const firstId = 4_300_000_000

export async function startFakeGitHub(folder: string, options: GitHubOptions = {}): Promise<FakeGitHub> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'gitconfig'), '[safe]\n\tdirectory = *\n')
  await writeHooks(folder)
  const { state, privateKey } = createState(options)
  const server = await startServer(state, routes, options.port ?? 0)
  const payload = createPayloads(state, server.links)
  const webhook = createWebhook(state, payload)
  return {
    ...createWorld(state, folder),
    url: server.links.api,
    webUrl: server.links.web,
    gitUrl: (owner, name) => `${server.links.web}/${owner}/${name}.git`,
    appId: state.app.id,
    appPrivateKey: privateKey,
    appSlug: state.app.slug,
    webhookSecret: state.app.webhookSecret,
    state,
    refs: async repo =>
      Object.fromEntries((await listRefs(requireRepository(state, repo).folder, 'refs/')).map(each => [each.ref, each.sha])),
    payload,
    setWebhook: webhook.set,
    webhooksSettled: webhook.settled,
    deliver: wish => deliver(state, wish),
    fail: rule => {
      requireRoute(rule.route)
      return server.faults.add(rule)
    },
    clearFaults: () => server.faults.clear(),
    setReadLag: ms => {
      state.readLagMs = ms
    },
    requests: route => {
      requireRoute(route)
      return state.requests.filter(each => route === undefined || each.route === route)
    },
    assertNoUnknownRequests: () => assertNoUnknownRequests(state),
    observe: server.observe,
    close: server.close,
  }
}

let keys: { publicKey: string; privateKey: string } | null = null

/** Made once a process: it takes longer than all the rest of the start. */
function appKeys(): { publicKey: string; privateKey: string } {
  keys ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
  return keys
}

function createState(options: GitHubOptions): { state: GitHubState; privateKey: string } {
  const { publicKey, privateKey } = appKeys()
  const slug = options.appSlug ?? 'grokbot'
  const now = options.now ?? Date.now
  let lastId = firstId
  const owner = { id: 1001, login: 'simulator-owner', type: 'User' as const, name: null, siteAdmin: false }
  const state: GitHubState = {
    app: {
      id: 424242,
      slug,
      name: slug,
      clientId: 'Iv23liSimulator00001',
      owner,
      publicKey,
      webhookSecret: options.webhookSecret ?? 'simulated-webhook-secret',
      permissions: options.permissions ?? defaultPermissions,
      events: ['check_run', 'issue_comment', 'issues', 'pull_request', 'pull_request_review', 'pull_request_review_comment', 'push'],
      createdAt: now(),
    },
    accounts: new Map(),
    repositories: new Map(),
    installations: new Map(),
    tokens: new Map(),
    deliveries: [],
    requests: [],
    usage: new Map(),
    blocked: new Map(),
    webhookUrl: null,
    sending: new Set(),
    renamed: new Map(),
    readLagMs: 0,
    emit: () => {},
    now,
    nextId: () => ++lastId,
  }
  addAccount(state, { login: `${slug}[bot]`, type: 'Bot' })
  state.accounts.set(owner.login, owner)
  return { state, privateKey }
}

const knownRoutes = new Set([
  ...routes.map(each => `${each.method} ${each.path}`),
  'git push',
  'git push refs',
  'git fetch',
  'git fetch refs',
])

/** A misspelt row would match nothing, and the test that waits for it would pass or hang. */
function requireRoute(route: string | undefined): void {
  if (route !== undefined && !knownRoutes.has(route)) throw new Error(`the fake GitHub has no row ${route}`)
}

function assertNoUnknownRequests(state: GitHubState): void {
  const unknown = state.requests.filter(each => each.route === null)
  if (unknown.length === 0) return
  throw new Error(`the fake GitHub has no route for:\n${unknown.map(each => `${each.method} ${each.url}`).join('\n')}`)
}
