import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'

/** Where programs are looked for inside by themselves; what they point to must lie under /usr, or nobody sees it there. */
const systemPlaces = ['/usr/local/bin/node', '/usr/bin/node', '/bin/node']

/**
 * The running Node's own programs and packages as roots, when the system has no Node that commands could see: so that a
 * JavaScript repository can be checked on a machine whose only Node lies in an odd place. Two narrow folders and not the
 * prefix: that may be a person's home.
 */
export function nodeRoots(execPath: string = process.execPath, places: readonly string[] = systemPlaces): string[] {
  if (places.some(isSeenInside)) return []
  const node = realpathSync(execPath)
  const bin = path.dirname(node)
  if (path.basename(bin) !== 'bin') return []
  const packages = path.join(path.dirname(bin), 'lib', 'node_modules')
  return [bin, ...(existsSync(packages) ? [realpathSync(packages)] : [])]
}

function isSeenInside(place: string): boolean {
  return existsSync(place) && realpathSync(place).startsWith('/usr/')
}
