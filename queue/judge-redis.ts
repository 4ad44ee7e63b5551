export type JudgedRedis = { kind: 'accepted' } | { kind: 'refused'; reason: string }

/** The oldest that BullMQ recommends; it also has the protocol in which one connection both listens and asks. */
const versionMin = '6.2.0'

/** Whether this Redis can be used, by what it says in INFO. What it does not say counts as not so. */
export function judgeRedis(info: string): JudgedRedis {
  const fields = new Map(info.split(/\r?\n/).map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
  const says = (name: string) => fields.get(name) ?? 'not given'
  const reason =
    refusedVersion(says('redis_version')) ??
    refusedMode(says('redis_mode')) ??
    refusedRole(says('role')) ??
    refusedPolicy(says('maxmemory_policy'))
  return reason === null ? { kind: 'accepted' } : { kind: 'refused', reason }
}

function refusedVersion(version: string): string | null {
  const numbers = version.split('.').map(Number)
  const [major = 0, minor = 0] = numbers
  const [majorMin = 0, minorMin = 0] = versionMin.split('.').map(Number)
  if (numbers.every(Number.isInteger) && (major > majorMin || (major === majorMin && minor >= minorMin))) return null
  return `its version is ${version}: ${versionMin} or newer is needed`
}

function refusedMode(mode: string): string | null {
  return mode === 'cluster' ? 'it is a cluster: give the address of a single Redis' : null
}

/** One that a failover made a copy takes no ring. */
function refusedRole(role: string): string | null {
  return role === 'master' ? null : `its role is ${role}: give the address of the primary`
}

/** Under any other policy it drops keys when its memory is full, and rings with them, without a word. */
function refusedPolicy(policy: string): string | null {
  if (policy === 'noeviction') return null
  return `its maxmemory-policy is ${policy}, under which keys may be dropped: set noeviction (CONFIG SET maxmemory-policy noeviction, and in its configuration file)`
}
