import { copyFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { workConfig, writeRepository } from './bare-repository.ts'
import { type FoundRepository, findRepository, readSmall } from './find-repository.ts'
import { findUnreadable, indexFiles } from './find-unreadable.ts'
import { gitLimits } from './limits.ts'
import { copyRules, readSettings, type Settings } from './read-settings.ts'
import { type GitCall, type GitResult, runGit } from './run-git.ts'
import { makeScratchFolder } from './scratch-folder.ts'
import { statAt } from './stat-at.ts'

/** A person's repository and where its parts lie. */
export type Theirs = FoundRepository & { root: string; index: string; settings: Settings }

export type Borrowed = {
  theirs: Theirs
  /** Ours, and gone afterwards: a gitdir with a copy of their index as `index`. */
  folder: string
  /** Runs git in our gitdir on their work tree. What it writes lands in our folder, unless `env` names a place of theirs. */
  run(argv: readonly string[], more?: Pick<GitCall, 'env' | 'input' | 'endsTidily'>): Promise<GitResult>
}

/** Expected, and told to people: what of a repository keeps it from being read. */
export type Unusable = { kind: 'unusable'; reason: string; next: string }

/**
 * Lends a person's repository for some questions. Danger: git starts whatever programs a repository's configuration, hooks
 * and attributes name together, and no list of settings to switch off is ever complete. So git never sees theirs: it gets
 * a gitdir of ours, with their objects as an alternate, their refs as a link, a copy of their index, the rules of what is
 * ignored, and those few settings that can start nothing. All calls together have `wallMs`; what came of `work` does not
 * count when one of them timed out, since each takes that for something else.
 */
export async function borrowRepository<T>(root: string, wallMs: number, work: (borrowed: Borrowed) => Promise<T>): Promise<T | Unusable> {
  const until = performance.now() + wallMs
  const found = findRepository(root)
  if (found === null) return { kind: 'unusable', reason: 'there is no repository', next: 'see what git says: git status' }
  const unreadable = findUnreadable(root, found)
  if (unreadable !== null) return unreadable
  const folder = makeScratchFolder()
  let late = false
  try {
    fill(folder, found)
    const env: Record<string, string> = { GIT_WORK_TREE: root, GIT_INDEX_FILE: join(folder, 'index') }
    const run: Borrowed['run'] = async (argv, more) => {
      const wall = Math.max(1, Math.round(until - performance.now()))
      const result = await runGit({ gitDir: folder, cwd: root, argv, ...more, env: { ...env, ...more?.env }, wallMs: wall })
      // One that writes tells of its time itself: something may be written.
      late ||= result.ended === 'timed-out' && !more?.endsTidily
      return result
    }
    const settings = await readSettings(found, run)
    if (late) return tooLate(wallMs)
    if ('kind' in settings) return settings
    const fault = copyRules(folder, found, settings)
    if (fault !== null) return fault
    Object.assign(env, asEnvironment(settings))
    const result = await work({ theirs: { ...found, root, index: join(found.gitDir, 'index'), settings }, folder, run })
    return late ? tooLate(wallMs) : result
  } catch (error) {
    if (late) return tooLate(wallMs)
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function tooLate(wallMs: number): Unusable {
  const reason = `git could not read it in time (${Math.round(wallMs / 1000)} s)`
  return { kind: 'unusable', reason, next: 'see where git waits, such as for a FIFO or a slow disk: git status' }
}

function fill(folder: string, { gitDir, common, objects }: FoundRepository): void {
  const head = (readSmall(join(gitDir, 'HEAD'), gitLimits.gitPointerBytesMax) ?? '').trimEnd()
  writeRepository(folder, { head, config: workConfig, alternates: [join(folder, 'their-objects')], objects: true })
  // By a link of ours, since no name of theirs can then be read as two, or as something else.
  symlinkSync(objects, join(folder, 'their-objects'))
  rmSync(join(folder, 'refs'), { recursive: true })
  for (const name of ['refs', 'packed-refs', 'shallow']) if (statAt(join(common, name))) symlinkSync(join(common, name), join(folder, name))
  for (const name of indexFiles(gitDir)) copyIndex(join(gitDir, name), join(folder, name))
}

/** An index's own time tells git which files may have changed right after it was written; a later one would hide a change. */
function copyIndex(from: string, to: string): void {
  const stat = statAt(from)
  if (!stat?.isFile()) return
  copyFileSync(from, to)
  utimesSync(to, Math.floor(stat.mtimeMs / 1000), Math.floor(stat.mtimeMs / 1000))
}

/** Given as data: nothing of a value can be read as another setting. */
function asEnvironment({ taken }: Settings): Record<string, string> {
  const settings = [...taken, ['core.splitIndex', 'false'] as const]
  return {
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}
