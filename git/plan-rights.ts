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
  // A folder gets them before find goes into it.
  'find . -path ./.git -prune -o -type d ! -perm -700 -exec chmod u+rwx {} \\; -o -type f ! -perm -400 -exec chmod u+r {} +',
].join('\n')
