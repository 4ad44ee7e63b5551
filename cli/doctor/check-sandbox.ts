import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Environment } from '../../config-schema/index.ts'
import { type ProfileTest, sandboxLimitDefaults, selfTest } from '../../sandbox/index.ts'
import { rootsOf, type WorkerSettings } from '../../worker/index.ts'
import { readOperator } from '../read-operator.ts'
import { sandboxUser } from '../sandbox-user.ts'
import { broken, degraded, type Finding, ok, tried } from './finding.ts'
import { settingsOrDefaults } from './settings-or-defaults.ts'

const profilesTried = ['workspace', 'read-only', 'strict', 'review']

/** Every profile is really opened and its canaries are run: a version or a setting of the kernel proves nothing. */
export async function checkSandbox(environment: Environment, dataDir: string): Promise<Finding[]> {
  const settings = settingsOrDefaults(() => readOperator(environment, dataDir))
  return [uidFinding(settings), ...(await tried('sandbox', 'apt-get install bubblewrap', () => profileFindings(settings)))]
}

function uidFinding(settings: WorkerSettings): Finding {
  const { uid } = sandboxUser(settings, 0)
  if (process.getuid?.() === 0) return ok('uid mode', `slots: started as root, each session runs as a user of its own, from ${uid}`)
  const single = `single: everything runs as uid ${uid}; masks, namespaces and the call filter carry it alone`
  return settings.operator.sandbox?.singleUidTenants
    ? degraded('uid mode', `${single}, for several tenants`, 'start as root, or serve one tenant')
    : ok('uid mode', single)
}

async function profileFindings(settings: WorkerSettings): Promise<Finding[]> {
  const { sandbox } = settings.operator
  const scratch = await mkdtemp(path.join(tmpdir(), 'grokbot-doctor-'))
  await chmod(scratch, 0o711)
  try {
    const { profiles } = await selfTest({
      profiles: profilesTried,
      user: sandboxUser(settings, 0),
      scratch,
      limits: sandboxLimitDefaults,
      mounts: rootsOf(sandbox?.roots ?? [], []).mounts,
      masked: sandbox?.masked ?? [],
      ...(sandbox?.readHost === undefined ? {} : { readHost: sandbox.readHost }),
    })
    return profiles.map(profileFinding)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function profileFinding({ profile, state, canaries, missing, reason }: ProfileTest): Finding {
  const part = `sandbox ${profile}`
  const escaped = Object.entries(canaries).flatMap(([name, held]) => (held === false ? [name] : []))
  if (escaped.length > 0)
    return broken(part, `not held: ${escaped.join('; ')}`, 'do not run anything untrusted here; send this line to the maintainers')
  if (state === 'none')
    return broken(part, reason ?? 'nothing could be run', 'see docs/sandbox.md; on Debian: apt-get install bubblewrap util-linux')
  if (state === 'partial') return degraded(part, `partial, without ${missing.join(', ')}`, 'see docs/sandbox.md')
  return ok(part, `enforced; ${missing.join(', ')}`)
}
