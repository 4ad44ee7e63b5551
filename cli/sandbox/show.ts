import type { Environment } from '../../config-schema/index.ts'
import { type Profile, type ProfileTest, sandboxLimitDefaults, selfTest } from '../../sandbox/index.ts'
import { escapeText, toSafeJson } from '../escape.ts'
import { openRoom, requireProfile } from './open-place.ts'

type Options = { data?: string; json?: boolean }

/** The six things to know of a profile: what it says, and what it is measured to do on this machine. */
export type ProfileChecks = {
  profile: string
  summary: string
  defaultRead: string
  writablePaths: string[]
  denies: string[]
  childNetwork: string[]
  platformSupport: { state: 'supported' | 'unsupported' | 'not-needed'; reason: string | null }
  appliedState: { state: ProfileTest['state']; missing: readonly string[]; canaries: ProfileTest['canaries'] }
}

export async function showProfile(name: string, options: Options, environment: Environment): Promise<void> {
  const profile = requireProfile(name)
  const room = await openRoom(environment, options)
  try {
    const { operator } = room.settings
    const masked = operator.sandbox?.masked ?? []
    const { profiles } = await selfTest({
      profiles: [name],
      user: room.user,
      scratch: room.folder,
      limits: sandboxLimitDefaults,
      mounts: [],
      masked,
      ...(operator.sandbox?.readHost === undefined ? {} : { readHost: operator.sandbox.readHost }),
    })
    const checks = checksOf(profile, profiles[0] ?? untested(name), { readHost: operator.sandbox?.readHost === true, masked })
    process.stdout.write(options.json ? `${toSafeJson(checks)}\n` : `${textOf(checks)}\n`)
  } finally {
    await room.close()
  }
}

function checksOf(
  profile: Profile,
  test: ProfileTest,
  { readHost, masked }: { readHost: boolean; masked: readonly string[] },
): ProfileChecks {
  const wholeHost = profile.reads === 'host' || (profile.hostReadable && readHost)
  const hostWords = profile.confined ? 'the host, masks apart' : 'all the user may read; nothing is masked'
  return {
    profile: profile.name,
    summary: profile.summary,
    defaultRead: wholeHost ? hostWords : "the system's runtime (/usr, a prepared /etc), the workspace, mounted roots",
    writablePaths: writablePaths(profile),
    denies: profile.confined ? ['the data folder', ...masked, 'bound sockets', ...profile.denied.map(path => `/workspace/${path}`)] : [],
    childNetwork: profile.confined ? profile.networks.map(network => networkWords[network]) : ["the host's"],
    platformSupport: supportOf(profile, test),
    appliedState: { state: test.state, missing: test.missing, canaries: test.canaries },
  }
}

const networkWords = {
  none: 'none (its own loopback works)',
  proxy: 'an allow-list through the proxy, for setup',
  host: "the host's, by explicit operator setting",
} as const

function writablePaths(profile: Profile): string[] {
  if (!profile.confined) return ['all the user may write']
  const own = ['/home/agent', '/tmp']
  return [
    ...(profile.workspaceWritable ? ['/workspace'] : []),
    ...own,
    ...(profile.hostWritable ? ['host folders the user may write'] : []),
  ]
}

function supportOf({ confined }: Profile, { reason, state }: ProfileTest): ProfileChecks['platformSupport'] {
  if (!confined) return { state: 'not-needed', reason: 'it confines nothing' }
  return state === 'none' ? { state: 'unsupported', reason } : { state: 'supported', reason: null }
}

function untested(profile: string): ProfileTest {
  throw new Error(`the self-test said nothing of the profile ${profile}`)
}

function textOf({
  profile,
  summary,
  defaultRead,
  writablePaths: writable,
  denies,
  childNetwork,
  platformSupport,
  appliedState,
}: ProfileChecks): string {
  const { state, missing, canaries } = appliedState
  const failed = Object.entries(canaries).filter(([, held]) => held === false)
  const rows: [string, string][] = [
    ['profile', `${profile}: ${summary}`],
    ['default read', defaultRead],
    ['writable paths', writable.join(', ')],
    ['denies', denies.join(', ') || 'nothing'],
    ['child network', childNetwork.join('; ')],
    ['platform support', [platformSupport.state, platformSupport.reason ?? ''].filter(Boolean).join(': ')],
    ['applied state', [state, ...missing, ...failed.map(([name]) => `not held: ${name}`)].join(', ')],
  ]
  return rows.map(([name, text]) => `${name.padEnd(17)} ${escapeText(text)}`).join('\n')
}
