import type { Network } from './sandbox.ts'

/** What a profile gives, as data. Everything else (masks, seccomp, namespaces, limits) is the same for all of them. */
export type Profile = {
  name: string
  summary: string
  /** False only for `off`. */
  confined: boolean
  /** `runtime`: /usr and friends, a prepared /etc, the mounts. `host`: everything, read-only, masks apart. */
  reads: 'runtime' | 'host'
  /** Whether `readHost: true` may widen `runtime` to `host`. */
  hostReadable: boolean
  workspaceWritable: boolean
  /** Top-level host folders that are writable too, as far as the user itself may write there. */
  hostWritable: boolean
  networks: readonly Network['kind'][]
  /** Names directly under /workspace that can be neither read nor written. */
  denied: readonly string[]
  /** Refused on a worker that serves several tenants. */
  singleTenantOnly: boolean
}

const confined = {
  confined: true,
  reads: 'runtime',
  hostReadable: true,
  workspaceWritable: true,
  hostWritable: false,
  networks: ['none'],
  denied: [],
  singleTenantOnly: false,
} as const satisfies Partial<Profile>

/** Files that hold credentials by convention; a review needs none of them. */
const credentialFiles = ['.env', '.env.local', '.npmrc', '.netrc', '.pypirc', '.git-credentials', '.aws', '.ssh', '.docker']

export const profiles: readonly Profile[] = [
  {
    ...confined,
    name: 'workspace',
    summary: 'reads the system runtime, writes workspace, home and tmp; network as granted',
    networks: ['none', 'proxy', 'host'],
  },
  {
    ...confined,
    name: 'devbox',
    summary: 'reads the host, writes broadly; for a machine that is itself disposable',
    reads: 'host',
    hostWritable: true,
    networks: ['none', 'proxy', 'host'],
    singleTenantOnly: true,
  },
  { ...confined, name: 'read-only', summary: 'as workspace, but the workspace is read-only; no network', workspaceWritable: false },
  {
    ...confined,
    name: 'strict',
    summary: 'only the system runtime and the workspace; no network but that of setup',
    hostReadable: false,
    // Commands of a session are never opened with it; setup of a strict task needs its registries.
    networks: ['none', 'proxy'],
  },
  {
    ...confined,
    name: 'review',
    summary: 'read-only, and files that hold credentials by convention are denied',
    workspaceWritable: false,
    denied: credentialFiles,
  },
  {
    ...confined,
    name: 'off',
    summary: 'no sandbox: resource limits and a cleared environment only; operator only',
    confined: false,
    reads: 'host',
    networks: ['none', 'proxy', 'host'],
    singleTenantOnly: true,
  },
]

/** The profile of that name; null when there is none. Matching is exact: a name never falls back to another profile. */
export function describeProfile(name: string): Profile | null {
  return profiles.find(profile => profile.name === name) ?? null
}

/** Never writable in `devbox`, whatever the user may write. */
export const hostFoldersNeverWritable = ['/data', '/proc', '/sys', '/dev', '/boot', '/etc', '/run', '/tmp'] as const
