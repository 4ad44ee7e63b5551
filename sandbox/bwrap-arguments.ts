import { join } from 'node:path'
import type { Engine } from './engine.ts'
import { fds, launchMark } from './launch.ts'
import { engineLimits } from './limits.ts'
import { engineFolder, runtimeSteps, type TreeStep } from './plan-tree.ts'
import type { RunFolder } from './run-folder.ts'

/**
 * Inside the holder's mount namespace, the tree that commands see lies here. Around it there is only what the launcher
 * needs to start the next sandbox: /usr, the host's /proc (bwrap follows its own children by it), and the engine's files.
 */
export const treeRoot = '/tree'
const holderEngineFolder = '/engine'

/** The one identity inside, whatever the user's uid on the host is. */
export const agentId = { uid: 1000, gid: 1000 } as const

/** Folders of our own code and the socket that only the file host and the relay may see, by their name below /engine. */
export type EngineMounts = { fileHost: string; relay: string; proxy: string }

export function holderArguments(
  engine: Engine,
  steps: readonly TreeStep[],
  folder: RunFolder,
  mounts: EngineMounts,
  net: boolean,
): string[] {
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-uts', ...(net ? ['--unshare-net'] : [])],
    // Root of its own user namespace only, so that bwrap may be started again inside it; on the host it stays the user.
    ...['--uid', '0', '--gid', '0', '--die-with-parent', '--new-session', '--hostname', 'sandbox'],
    ...runtimeSteps().flatMap(step => mountArguments(step, '', folder)),
    ...['--bind', '/proc', '/proc', '--dir', '/tmp'],
    ...engineFolders(engine, mounts),
    ...['--size', String(engineLimits.runTmpfsBytes), '--tmpfs', treeRoot],
    ...steps.flatMap(step => mountArguments(step, treeRoot, folder)),
    ...['--remount-ro', '/', '--json-status-fd', String(fds.status), '--clearenv'],
    ...Object.entries(launchMark()).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--', engine.shell, '-c', 'echo ready && exec sleep infinity'],
  ]
}

function engineFolders(engine: Engine, mounts: EngineMounts): string[] {
  const binds = { node: engine.node, 'file-host': mounts.fileHost, relay: mounts.relay, proxy: mounts.proxy }
  return Object.entries(binds).flatMap(([name, source]) => ['--ro-bind', source, join(holderEngineFolder, name)])
}

export function mountArguments(step: TreeStep, root: string, folder: RunFolder): string[] {
  const at = (target: string) => (target === '/' && root !== '' ? root : `${root}${target}`)
  switch (step.kind) {
    case 'bind':
      return [step.mode === 'ro' ? '--ro-bind' : '--bind', step.source, at(step.target)]
    case 'symlink':
      return ['--symlink', step.to, at(step.target)]
    case 'tmpfs':
      return ['--size', String(step.bytes), '--perms', step.perms, '--tmpfs', at(step.target)]
    case 'folder':
      return ['--dir', at(step.target)]
    case 'mask-folder':
      return ['--size', '4096', '--perms', step.perms, '--tmpfs', at(step.target)]
    case 'mask-file':
      return ['--ro-bind', folder.denied, at(step.target)]
    case 'dev':
      return ['--dev', at('/dev')]
    case 'seal':
      return ['--remount-ro', at(step.target)]
  }
}

const confinement = [
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--uid', String(agentId.uid), '--gid', String(agentId.gid), '--cap-drop', 'ALL'],
  ...['--die-with-parent', '--new-session', '--hostname', 'sandbox'],
]

const reporting = ['--seccomp', String(fds.seccomp), '--json-status-fd', String(fds.status), '--clearenv']

/** A command's sandbox: the holder's tree, an own process list, and a shell that waits for the command on fd 9. */
export function commandArguments(environment: Readonly<Record<string, string>>, parkedScript: string): string[] {
  return [
    ...confinement,
    ...['--dev-bind', treeRoot, '/', '--proc', '/proc', '--chdir', '/', ...reporting],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--', '/bin/bash', '--norc', '--noprofile', '-c', parkedScript],
  ]
}

/** The file host's sandbox: the same tree, no network of any kind, no /proc at all, an empty environment. */
export function fileHostArguments(entry: string, ripgrep: string | null): string[] {
  const own = (name: string) => ['--ro-bind', join(holderEngineFolder, name), join(engineFolder, name)]
  return [
    ...confinement,
    ...['--unshare-net', '--dev-bind', treeRoot, '/', '--tmpfs', engineFolder, ...own('node'), ...own('file-host')],
    ...['--remount-ro', engineFolder, '--chdir', '/', ...reporting, '--'],
    ...[join(engineFolder, 'node'), '--no-addons', join(engineFolder, 'file-host', entry), ripgrep ?? ''],
  ]
}

/** The relay's sandbox: the session's network namespace and the proxy's socket, and nothing of the tree. */
export function relayArguments(entry: string, port: number): string[] {
  const own = (name: string) => ['--ro-bind', join(holderEngineFolder, name), join(holderEngineFolder, name)]
  return [
    ...confinement,
    ...[
      '--ro-bind',
      '/usr',
      '/usr',
      ...runtimeSteps().flatMap(step => (step.kind === 'symlink' ? ['--symlink', step.to, step.target] : [])),
    ],
    ...[...own('node'), ...own('relay'), ...own('proxy'), '--remount-ro', '/', '--chdir', '/', ...reporting, '--'],
    ...[join(holderEngineFolder, 'node'), '--no-addons', join(holderEngineFolder, 'relay', entry)],
    ...[String(port), join(holderEngineFolder, 'proxy', 'egress.sock')],
  ]
}
