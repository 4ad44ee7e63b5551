import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { engineLimits } from './limits.ts'
import { boundSockets, type Mask, masksInside, pathBelow } from './masks.ts'
import { hostFoldersNeverWritable, type Profile } from './profiles.ts'
import { own, type RunFolder } from './run-folder.ts'
import { insidePaths, type Mount, type SandboxOptions } from './sandbox.ts'

/** One mount or entry of the tree a command sees, in the order in which they are made. */
export type TreeStep =
  | { kind: 'bind'; source: string; target: string; mode: 'ro' | 'rw' }
  | { kind: 'symlink'; to: string; target: string }
  | { kind: 'tmpfs'; target: string; bytes: number; perms: string }
  | { kind: 'folder'; target: string }
  | { kind: 'mask-folder'; target: string; perms: string }
  | { kind: 'mask-file'; target: string }
  | { kind: 'dev' }
  /** Makes what is mounted at `target` read-only, after everything below it was mounted. */
  | { kind: 'seal'; target: string }

export type TreePlan = { kind: 'planned'; steps: TreeStep[] } | { kind: 'impossible'; reason: string }

/** Where the engine's own files are seen inside. */
export const engineFolder = '/run/grokbot'

/**
 * What a command may see, as a list of mounts. Pure apart from looking at the host: which folders exist, which sockets are
 * bound, whether a mount point is a symlink. It fails rather than leave out a mask or mount over a symlink.
 */
export function planTree(
  options: SandboxOptions,
  profile: Profile,
  folder: RunFolder,
  etc: readonly { source: string; target: string }[],
): TreePlan {
  const wholeHost = profile.reads === 'host' || (profile.hostReadable && options.readHost === true)
  const base = wholeHost ? hostBinds(profile) : { steps: runtimeSteps(), etc }
  const binds = [...base.etc.map(readOnly), ...sessionBinds(options, profile, folder), ...sortedMounts(options.mounts, profile)]
  const all = [...base.steps.filter(isBind), ...binds]
  const fault = mountsFault(options.mounts) ?? binds.map(bind => mountPointFault(bind, all, options)).find(found => found !== null)
  if (fault) return { kind: 'impossible', reason: fault }

  // What comes and goes by itself is hidden while it is there; what the caller masks must be there.
  const hidden = [...options.masked, ...[...boundSockets(), ...(wholeHost ? hostCredentials : [])].filter(path => existsSync(path))]
  const steps: TreeStep[] = []
  const masks: Mask[] = []
  const fixed = fixedSteps(options, wholeHost)
  const covered = fixed.flatMap(step => (step.kind === 'tmpfs' ? [step.target] : []))
  for (const step of [...base.steps, ...fixed, ...binds]) {
    steps.push(step)
    if (step.kind !== 'bind') continue
    const found = masksInside(step, hidden)
    if (found.kind === 'missing') {
      return {
        kind: 'impossible',
        reason: `the path ${found.path} must stay invisible but does not exist yet: create it first, or do not mask it`,
      }
    }
    const needed = found.masks.filter(mask => !covered.some(target => pathBelow(target, mask.target) !== null))
    masks.push(...needed)
    steps.push(...needed.map(mask => maskStep(mask, binds)))
  }
  const denied = deniedInWorkspace(options, profile, folder)
  steps.push(...denied.map(mask => maskStep(mask, [])))
  const sealed = [...masks, ...denied].filter(mask => mask.type === 'folder').map(mask => mask.target)
  steps.push(...[...sealed, '/dev', '/run', '/'].map(target => ({ kind: 'seal', target }) as const))
  return { kind: 'planned', steps }
}

/** /usr and the top-level links or folders that belong to it. */
export function runtimeSteps(): TreeStep[] {
  const links = ['bin', 'lib', 'lib32', 'lib64', 'libx32', 'sbin'].map(name => topLevel(name)).filter(step => step !== null)
  return [{ kind: 'bind', source: '/usr', target: '/usr', mode: 'ro' }, ...links, { kind: 'folder', target: '/var' }]
}

function topLevel(name: string): TreeStep | null {
  const path = `/${name}`
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isSymbolicLink()) return { kind: 'symlink', to: readlinkSync(path), target: path }
  return stat?.isDirectory() ? { kind: 'bind', source: path, target: path, mode: 'ro' } : null
}

/** Made anew inside, or never shown: real homes, the kernel's file systems, and everything that is kept for a boot only. */
const hostEntriesLeftOut = new Set(['dev', 'home', 'proc', 'root', 'run', 'sys', 'tmp', 'workspace', 'lost+found'])

/** Configuration of the machine that may hold tokens or keys: hidden even where the whole host is readable. */
const hostCredentials = ['/etc/npmrc', '/etc/gitconfig', '/etc/netrc', '/etc/docker', '/etc/kubernetes', '/etc/ssh', '/etc/ssl/private']

function hostBinds(profile: Profile): { steps: TreeStep[]; etc: { source: string; target: string }[] } {
  const steps = readdirSync('/').flatMap<TreeStep>(name => {
    const step = hostEntriesLeftOut.has(name) ? null : topLevel(name)
    if (step?.kind !== 'bind') return step ? [step] : []
    const writable = profile.hostWritable && !hostFoldersNeverWritable.some(path => path === step.target)
    return [writable ? { ...step, mode: 'rw' } : step]
  })
  return { steps, etc: [] }
}

function fixedSteps(options: SandboxOptions, wholeHost: boolean): TreeStep[] {
  const varTmp: TreeStep = wholeHost
    ? { kind: 'tmpfs', target: '/var/tmp', bytes: engineLimits.runTmpfsBytes, perms: '1777' }
    : { kind: 'symlink', to: '../tmp', target: '/var/tmp' }
  return [
    { kind: 'dev' },
    { kind: 'folder', target: '/proc' },
    { kind: 'tmpfs', target: insidePaths.tmp, bytes: options.limits.tmpBytesMax, perms: '1777' },
    { kind: 'tmpfs', target: '/run', bytes: engineLimits.runTmpfsBytes, perms: '0755' },
    { kind: 'tmpfs', target: '/dev/shm', bytes: engineLimits.shmTmpfsBytes, perms: '1777' },
    varTmp,
    { kind: 'folder', target: engineFolder },
  ]
}

type Bind = Extract<TreeStep, { kind: 'bind' }>

function isBind(step: TreeStep): step is Bind {
  return step.kind === 'bind'
}

function readOnly(bind: { source: string; target: string }): Bind {
  return { kind: 'bind', ...bind, mode: 'ro' }
}

function sessionBinds(options: SandboxOptions, profile: Profile, folder: RunFolder): Bind[] {
  const workspace = options.workspace ?? { source: folder.workspace, mode: 'rw' }
  const mode = profile.workspaceWritable ? workspace.mode : 'ro'
  return [
    { kind: 'bind', source: folder.home, target: insidePaths.home, mode: 'rw' },
    { kind: 'bind', source: workspace.source, target: insidePaths.workspace, mode },
    { kind: 'bind', source: folder.inbox, target: join(engineFolder, 'inbox'), mode: 'ro' },
  ]
}

/** Outer mounts first. A profile that does not write the workspace does not write what is mounted into it either. */
function sortedMounts(mounts: readonly Mount[], profile: Profile): Bind[] {
  return [...mounts]
    .sort((one, other) => one.target.split('/').length - other.target.split('/').length)
    .map(mount => {
      const inWorkspace = pathBelow(insidePaths.workspace, mount.target) !== null
      return { kind: 'bind', ...mount, mode: inWorkspace && !profile.workspaceWritable ? 'ro' : mount.mode }
    })
}

/**
 * A mount whose target lies in another mount needs a real folder or file there. The workspace's content is untrusted: a
 * symlink on the way would move the mount to a place of its author's choice, so every component is looked at.
 */
function mountPointFault(bind: Bind, binds: readonly Bind[], options: SandboxOptions): string | null {
  const source = look(bind.source)
  if (source === 'unreachable') return `the mount source ${bind.source} cannot be reached: every folder above it must be searchable`
  if (!source) return `the mount source ${bind.source} does not exist`
  if (source.isSymbolicLink()) return `the mount source ${bind.source} is a symlink; name what it points to`
  const outer = binds
    .filter(other => pathBelow(other.target, bind.target) !== null)
    .sort((one, other) => other.target.length - one.target.length)[0]
  if (!outer) return null
  let path = outer.source
  for (const part of (pathBelow(outer.target, bind.target) as string).split('/')) {
    path = join(path, part)
    let stat = look(path)
    if (!stat && outer.target === insidePaths.home && source.isDirectory()) {
      mkdirSync(path, { mode: 0o700 })
      own(path, options.user)
      stat = lstatSync(path)
    }
    if (stat === 'unreachable') return `nothing can be mounted at ${bind.target}: ${path} cannot be reached`
    if (!stat) return `nothing can be mounted at ${bind.target}: ${path} does not exist`
    if (stat.isSymbolicLink()) return `nothing can be mounted at ${bind.target}: ${path} is a symlink`
  }
  return null
}

function look(path: string): Stats | null | 'unreachable' {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return 'unreachable'
  }
}

function mountsFault(mounts: readonly Mount[]): string | null {
  const unclear = mounts.flatMap(({ source, target }) => [source, target]).find(path => !isAbsolute(path) || normalize(path) !== path)
  if (unclear !== undefined) return `a mount needs plain absolute paths, and ${unclear} is none`
  const taken = mounts.find(mount => takenTarget(mount.target))
  return taken ? `nothing may be mounted at ${taken.target}` : null
}

/** A caller's mount may lie beside or below what the engine mounts, but not in its place, and not in these folders at all. */
function takenTarget(target: string): boolean {
  const replaced = ['/', '/etc', '/usr', ...Object.values(insidePaths)]
  return replaced.includes(target) || ['/dev', '/proc', '/run'].some(path => path === target || pathBelow(path, target) !== null)
}

function maskStep(mask: Mask, binds: readonly Bind[]): TreeStep {
  if (mask.type === 'file') return { kind: 'mask-file', target: mask.target }
  // A mount the caller asked for below a masked folder must be reachable by its name; the folder still lists nothing.
  const passed = binds.some(bind => pathBelow(mask.target, bind.target) !== null)
  return { kind: 'mask-folder', target: mask.target, perms: passed ? '0111' : '0000' }
}

/** Denied names that exist at the top of the workspace. A symlink of that name leads nowhere but into what is visible anyway. */
function deniedInWorkspace(options: SandboxOptions, profile: Profile, folder: RunFolder): Mask[] {
  const source = options.workspace?.source ?? folder.workspace
  return profile.denied.flatMap<Mask>(name => {
    const stat = look(join(source, name))
    if (stat === null || stat === 'unreachable' || stat.isSymbolicLink()) return []
    return [{ target: join(insidePaths.workspace, name), type: stat.isDirectory() ? 'folder' : 'file' }]
  })
}
