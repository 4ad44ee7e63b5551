import type { Workspace } from './git.ts'
import type { RestorePlan } from './plan-restore.ts'

/**
 * What a fresh sandbox runs to give the owner of a work tree its rights back: a command can have closed a file or a folder
 * even to the user it ran as, and then no tree of it could be made. Git knows none of these rights. No link is followed.
 */
export function planRights({ path: source }: Pick<Workspace, 'path'>): Omit<RestorePlan, 'remove'> {
  return { workspace: { source, mode: 'rw' }, mounts: [], argv: ['/bin/bash', '-p', '-c', script] }
}

const script = [
  'PATH=/usr/bin:/bin',
  'chmod u+rwx /workspace && cd /workspace || exit 2',
  // One process for all of them, however many there are; on its way it follows no link, and none is named to it.
  'find . -mindepth 1 -maxdepth 1 ! -name .git ! -type l -exec chmod -R u+rwX -- {} +',
].join('\n')
