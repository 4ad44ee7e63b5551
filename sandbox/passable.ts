import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A folder of the worker's own that a sandbox's user may pass through and not list, made with all that is missing above it.
 * The mode is given to `chmod`: of the one that is given to `mkdir` a narrow umask takes the passing away. One that is
 * there already, as an earlier run may have left it, gets the passing and keeps the rest.
 */
export function passable(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found === undefined) {
    if (statSync(dirname(folder), { throwIfNoEntry: false }) === undefined) passable(dirname(folder))
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    chmodSync(folder, 0o711)
  } else if ((found.mode & 0o011) !== 0o011) chmodSync(folder, (found.mode & 0o777) | 0o011)
  return folder
}
