import ignore from 'ignore'
import type { FileHost } from '../ports.ts'
import { workspacePath } from './workspace-path.ts'

const ignoreFileBytesMax = 1_048_576

/**
 * A sentence for a path git ignores: the edit is made, for a tracked file counts whatever is ignored, but a new file there
 * would silently not be part of the change. Empty when git does not ignore it.
 */
export async function ignoreNote(path: string, files: FileHost): Promise<string> {
  return (await isIgnored(path, files))
    ? ' Note: .gitignore matches this path; unless git already tracks it, it will not be part of the change.'
    : ''
}

/** By the `.gitignore` files from the root down to the path's folder, the deepest rule that speaks of it winning. */
export async function isIgnored(path: string, files: FileHost): Promise<boolean> {
  const relative = workspacePath(path)
  if (relative === '.' || relative.startsWith('/')) return false
  const parts = relative.split('/')
  const rules: { folder: string; matcher: ReturnType<typeof ignore> }[] = []
  for (let depth = 0; depth < parts.length; depth++) {
    const folder = parts.slice(0, depth).join('/')
    const text = await readRules(folder === '' ? '.gitignore' : `${folder}/.gitignore`, files)
    if (text !== null) rules.push({ folder, matcher: ignore().add(text) })
    const isFolder = depth < parts.length - 1
    // A folder that is ignored is never looked into, so no deeper rule can bring back what is in it.
    if (ignoredBy(rules, `${parts.slice(0, depth + 1).join('/')}${isFolder ? '/' : ''}`)) return true
  }
  return false
}

function ignoredBy(rules: readonly { folder: string; matcher: ReturnType<typeof ignore> }[], path: string): boolean {
  for (const { folder, matcher } of rules.toReversed()) {
    const verdict = matcher.test(folder === '' ? path : path.slice(folder.length + 1))
    if (verdict.ignored) return true
    if (verdict.unignored) return false
  }
  return false
}

async function readRules(path: string, files: FileHost): Promise<string | null> {
  const answer = await files.read(path, ignoreFileBytesMax)
  return answer.kind === 'read' ? Buffer.from(answer.content).toString('utf8') : null
}
