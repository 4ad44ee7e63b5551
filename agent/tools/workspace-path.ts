import { posix } from 'node:path'

const root = '/workspace'

/**
 * A path as the gate and the batch order compare it: relative to the workspace, folded lexically. It decides nothing about
 * access (links are only seen by the kernel, in the file host); a path outside stays absolute.
 */
export function workspacePath(path: string): string {
  const absolute = posix.resolve(root, path)
  if (absolute === root) return '.'
  return absolute.startsWith(`${root}/`) ? absolute.slice(root.length + 1) : absolute
}
