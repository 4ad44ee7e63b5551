import type { SandboxReport } from '../domain/index.ts'
import { namespaceOf } from './engine.ts'
import type { Evidence, NamespaceName } from './evidence.ts'
import type { Holder } from './holder.ts'
import { engineLimits } from './limits.ts'
import type { TreeStep } from './plan-tree.ts'
import type { SandboxLimits, SandboxUser } from './sandbox.ts'

/** What a sandbox must be measured to have. Each is proven by what the kernel says, never by what was asked for. */
export const capabilities = [
  'fsWrite',
  'fsReadDeny',
  'netRestrict',
  'pidIsolation',
  'ipcIsolation',
  'privileges',
  'seccomp',
  'limits',
] as const
export type Capability = (typeof capabilities)[number]

export type Expected = { steps: readonly TreeStep[]; net: 'private' | 'host'; user: SandboxUser; limits: SandboxLimits; profile: string }

/** `lacking`: what was asked for and is not there; a policy of `required` refuses to run then. */
export type Judgement = { report: SandboxReport; lacking: readonly Capability[] }

export function judgeEvidence(evidence: Evidence, holder: Holder, expected: Expected): Judgement {
  const proven: Record<Capability, boolean> = {
    fsWrite: writesWhereAllowed(evidence, expected.steps),
    fsReadDeny: masksLie(evidence, expected.steps),
    netRestrict: netAsGranted(evidence, holder, expected.net),
    pidIsolation: differs(evidence, 'pid'),
    ipcIsolation: differs(evidence, 'ipc') && differs(evidence, 'uts'),
    privileges:
      evidence.noNewPrivileges &&
      evidence.withoutCapabilities &&
      evidence.uid === expected.user.uid &&
      evidence.uid !== 0 &&
      differs(evidence, 'user') &&
      evidence.namespaces.user !== holder.namespaces.user,
    seccomp: evidence.seccompFiltered,
    limits: limitsHold(evidence, expected.limits),
  }
  const lacking = capabilities.filter(name => !proven[name])
  // Asked for by the operator, so it is no reason to refuse; but a sandbox on the host's network is not a whole one.
  const open = expected.net === 'host' ? ['netRestrict: host network'] : []
  const report: SandboxReport = {
    engine: 'bwrap',
    state: lacking.length + open.length === 0 ? 'enforced' : 'partial',
    profile: expected.profile,
    // The sum over all processes is watched from outside, not bounded by the kernel: said always, held against nobody.
    missing: [...lacking, ...open, 'memoryTotal: per-process'],
  }
  return { report, lacking }
}

function differs(evidence: Evidence, name: NamespaceName): boolean {
  return evidence.namespaces[name] !== namespaceOf('self', name)
}

function netAsGranted(evidence: Evidence, holder: Holder, net: Expected['net']): boolean {
  if (net === 'host') return true
  return evidence.namespaces.net === holder.namespaces.net && differs(evidence, 'net')
}

/** The root and every mount that is not meant to be written are read-only; nothing is mounted that was not planned. */
function writesWhereAllowed(evidence: Evidence, steps: readonly TreeStep[]): boolean {
  if (!differs(evidence, 'mnt') || !evidence.mounts.get('/')?.includes('ro')) return false
  const writable = new Set(steps.flatMap(step => (isWritable(step) ? [step.target] : [])))
  const sealed = new Set(steps.flatMap(step => (step.kind === 'seal' ? [step.target] : [])))
  for (const [point, options] of evidence.mounts) {
    if (options.includes('ro') || isDevice(point) || point === '/proc') continue
    if (sealed.has(point) || !isAtOrBelow(point, writable)) return false
  }
  return evidence.mounts.has('/proc') && [...evidence.mounts.values()].every(options => options.includes('nosuid'))
}

function isWritable(step: TreeStep): step is Extract<TreeStep, { kind: 'bind' | 'tmpfs' }> {
  return (step.kind === 'bind' && step.mode === 'rw') || step.kind === 'tmpfs'
}

function isDevice(point: string): boolean {
  return point.startsWith('/dev/') && point !== '/dev/shm'
}

function isAtOrBelow(point: string, targets: ReadonlySet<string>): boolean {
  for (let at = point; at !== '/' && at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (targets.has(at)) return true
  return false
}

/** One mount for every mask, and a folder's mask is sealed. */
function masksLie(evidence: Evidence, steps: readonly TreeStep[]): boolean {
  return steps.every(step => {
    if (step.kind !== 'mask-file' && step.kind !== 'mask-folder') return true
    return evidence.mounts.get(step.target)?.includes('ro') === true
  })
}

function limitsHold(evidence: Evidence, limits: SandboxLimits): boolean {
  const bounds: [string, number][] = [
    ['Max cpu time', limits.cpuSeconds + engineLimits.cpuGraceSeconds],
    ['Max file size', limits.fileBytesMax],
    ['Max data size', limits.memoryBytes],
    ['Max processes', limits.processesMax],
    ['Max open files', limits.openFilesMax],
    ['Max core file size', 0],
  ]
  return bounds.every(([name, bound]) => (evidence.limits.get(name) ?? Number.POSITIVE_INFINITY) <= bound)
}
