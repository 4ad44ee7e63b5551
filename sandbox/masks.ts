import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'

export type Mask = { target: string; type: 'folder' | 'file' }

/**
 * The masks needed inside one bind so that none of `hidden` can be seen through it. A bind whose source lies at or below
 * a hidden path is left alone: the caller named it as an exception (the mirror's objects lie in the masked data folder).
 * `missing`: a hidden path that does not exist and that the bind would show later; nothing may start then.
 */
export function masksInside(
  bind: { source: string; target: string },
  hidden: readonly string[],
): { kind: 'masks'; masks: Mask[] } | { kind: 'missing'; path: string } {
  const masks = new Map<string, Mask>()
  for (const path of hidden) {
    const within = pathBelow(bind.source, path)
    if (within === null) continue
    const resolved = resolve(path)
    if (resolved === 'absent') return { kind: 'missing', path }
    if (resolved === 'unreachable') continue
    const real = pathBelow(bind.source, resolved.path)
    if (real !== null) masks.set(real, { target: join(bind.target, real), type: resolved.type })
  }
  return { kind: 'masks', masks: [...masks.values()].filter(mask => !liesBelowAny(mask.target, masks.values())) }
}

/**
 * Every Unix socket that is bound to a path now. A socket reached through a read-only bind accepts connections all the
 * same, whatever network namespace the caller is in, so each visible one gets a mask of its own.
 */
export function boundSockets(): string[] {
  const paths = new Set<string>()
  for (const line of readFileSync('/proc/net/unix', 'latin1').split('\n').slice(1)) {
    // Num RefCount Protocol Flags Type St Inode Path; the path may hold spaces, an abstract name starts with "@".
    const path = /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1]
    if (path !== undefined && isSocket(path)) paths.add(path)
  }
  return [...paths]
}

/** The path relative to `folder` when it lies strictly below it, else null. Purely lexical. */
export function pathBelow(folder: string, path: string): string | null {
  const way = relative(folder, path)
  return way === '' || way === '..' || way.startsWith('../') || isAbsolute(way) ? null : way
}

function resolve(path: string): 'absent' | 'unreachable' | { path: string; type: Mask['type'] } {
  try {
    const real = realpathSync(path)
    return { path: real, type: lstatSync(real).isDirectory() ? 'folder' : 'file' }
  } catch (error) {
    // What this process may not reach, the sandbox, whose user is the same or a weaker one, may not reach either.
    const code = (error as NodeJS.ErrnoException).code
    return code === 'EACCES' ? 'unreachable' : 'absent'
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket()
  } catch {
    // Gone meanwhile, or out of this process's reach and so out of the sandbox's.
    return false
  }
}

function liesBelowAny(target: string, masks: Iterable<Mask>): boolean {
  for (const mask of masks) if (mask.type === 'folder' && pathBelow(mask.target, target) !== null) return true
  return false
}
