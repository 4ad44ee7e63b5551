import { readFileSync } from 'node:fs'
import { namespaceOf } from './engine.ts'
import { engineLimits } from './limits.ts'

/**
 * What the kernel says about a parked sandbox, read from outside while its shell waits: the shell has been through exec,
 * so the seccomp filter is loaded and the capabilities are gone, and none of it is what the sandbox says about itself.
 */
export type Evidence = {
  namespaces: Record<NamespaceName, string>
  /** Of pid 1 and of the waiting shell: the weaker of the two. */
  seccompFiltered: boolean
  noNewPrivileges: boolean
  withoutCapabilities: boolean
  uid: number
  /** Mount point to its options, the last mount at a point winning. */
  mounts: Map<string, string[]>
  limits: Map<string, number>
}

const namespaceNames = ['user', 'mnt', 'pid', 'ipc', 'uts', 'net', 'cgroup'] as const
export type NamespaceName = (typeof namespaceNames)[number]

export async function readEvidence(pid: number): Promise<Evidence | null> {
  // bwrap's own pid 1 loads the filter after it has forked the shell, which may be ready first: what is not yet there is
  // waited for, what is still not there then is missing.
  for (let waited = 0; ; waited += 1) {
    const evidence = readOnce(pid)
    if (evidence === null || evidence.seccompFiltered || waited >= engineLimits.evidenceWaitMs) return evidence
    await new Promise(resolve => setTimeout(resolve, 1))
  }
}

function readOnce(pid: number): Evidence | null {
  try {
    const shell = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ')[0]
    if (!shell) return null
    const first = readStatus(String(pid))
    const second = readStatus(shell)
    const namespaces = readNamespaces(Number(shell))
    if (!namespaces) return null
    return {
      namespaces,
      seccompFiltered: first.Seccomp === '2' && second.Seccomp === '2',
      noNewPrivileges: first.NoNewPrivs === '1' && second.NoNewPrivs === '1',
      withoutCapabilities: [first, second].every(status => capabilitySets.every(name => /^0+$/.test(status[name] ?? ''))),
      uid: Number(second.Uid?.split('\t')[0]),
      mounts: readMounts(shell),
      limits: readLimits(shell),
    }
  } catch {
    // The process went away while it was looked at: there is no evidence then.
    return null
  }
}

const capabilitySets = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']

function readStatus(pid: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const line of readFileSync(`/proc/${pid}/status`, 'latin1').split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trim()
  }
  return fields
}

function readNamespaces(pid: number): Evidence['namespaces'] | null {
  const found = namespaceNames.map(name => [name, namespaceOf(pid, name)] as const)
  return found.some(([, id]) => id === null) ? null : (Object.fromEntries(found) as Evidence['namespaces'])
}

function readMounts(pid: string): Evidence['mounts'] {
  const mounts: Evidence['mounts'] = new Map()
  for (const line of readFileSync(`/proc/${pid}/mountinfo`, 'latin1').split('\n')) {
    const [, , , , point, options] = line.split(' ')
    if (point && options) mounts.set(point, options.split(','))
  }
  return mounts
}

function readLimits(pid: string): Map<string, number> {
  const limits = new Map<string, number>()
  for (const line of readFileSync(`/proc/${pid}/limits`, 'latin1').split('\n')) {
    const [, name, hard] = /^(Max [a-z ]+?)\s{2,}\S+\s+(\d+)/.exec(line) ?? []
    if (name && hard) limits.set(name, Number(hard))
  }
  return limits
}
