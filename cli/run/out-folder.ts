import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export type OutFiles = { patch: string | null; bundle: string | null; problem: string | null }

/**
 * Puts a run's results where its person looks for them: `.grok/out` of the repository, which hides itself from git. The
 * repository's content is not trusted: a `.grok` that is a link would carry our files to a place of its author's choice,
 * so nothing on the way may be one. When the folder can not be used the files stay in the data folder, and that is said.
 */
export function writeOutFiles(root: string, taskId: string, files: { patch: string; bundle: string }): OutFiles {
  const present = { patch: existsSync(files.patch) ? files.patch : null, bundle: existsSync(files.bundle) ? files.bundle : null }
  if (present.patch === null && present.bundle === null) return { ...present, problem: null }
  const opened = openOutFolder(root)
  if (opened.kind === 'unusable') return { ...present, problem: opened.problem }
  const put = (from: string | null, name: string) => (from === null ? null : copyInto(opened.folder, from, name))
  try {
    return { patch: put(present.patch, `${taskId}.patch`), bundle: put(present.bundle, `${taskId}.json`), problem: null }
  } catch (error) {
    return { ...present, problem: `.grok/out can not be written: ${(error as NodeJS.ErrnoException).code}` }
  }
}

type OutFolder = { kind: 'opened'; folder: string } | { kind: 'unusable'; problem: string }

function openOutFolder(root: string): OutFolder {
  const folder = path.join(root, '.grok', 'out')
  for (const part of [path.join(root, '.grok'), folder]) {
    try {
      const stat = lstatSync(part, { throwIfNoEntry: false })
      if (stat === undefined) mkdirSync(part)
      else if (!stat.isDirectory())
        return { kind: 'unusable', problem: `${path.relative(root, part)} is not a folder, so nothing is written there` }
    } catch (error) {
      return { kind: 'unusable', problem: `${path.relative(root, part)} can not be written: ${(error as NodeJS.ErrnoException).code}` }
    }
  }
  try {
    hideFromGit(folder)
  } catch (error) {
    return { kind: 'unusable', problem: `.grok/out can not be written: ${(error as NodeJS.ErrnoException).code}` }
  }
  return { kind: 'opened', folder }
}

function hideFromGit(folder: string): void {
  if (lstatSync(path.join(folder, '.gitignore'), { throwIfNoEntry: false })) return
  writeFileSync(path.join(folder, '.gitignore'), '*\n', { flag: 'wx' })
}

/** A new file beside it, then a rename: a link that stands under the final name is replaced, never followed. */
function copyInto(folder: string, from: string, name: string): string {
  const file = path.join(folder, name)
  const part = path.join(folder, `.${name}.${randomBytes(6).toString('hex')}`)
  try {
    writeFileSync(part, readFileSync(from), { flag: 'wx' })
    renameSync(part, file)
  } finally {
    rmSync(part, { force: true })
  }
  return file
}
