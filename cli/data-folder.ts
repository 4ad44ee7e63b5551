import { accessSync, chmodSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { dataFolder, type Environment } from '../config-schema/index.ts'
import { escapeText } from './escape.ts'
import { UsageError } from './exit.ts'

/** The data folder a sub-command works on: `--data`, else the environment's, else this user's own. */
export function dataFolderOf(environment: Environment, given: string | undefined): string {
  return given === undefined ? dataFolder(environment) : path.resolve(given)
}

/** Makes it if it is missing; throws `UsageError` when it can not be used. Passable for sessions, not listable. */
export function makeDataFolder(folder: string): string {
  try {
    makeFolders(path.resolve(folder))
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new UsageError('data-folder-unusable', `the data folder ${escapeText(folder)} can not be used: ${codeOf(error)}`)
  }
  const real = realpathSync(folder)
  const fault = passThroughFault(real)
  if (fault) throw new UsageError('data-folder-closed', fault.problem, [fault.next])
  return real
}

/** One by one: below /proc, where a folder that is there takes no new one, Node's own recursive form never comes back. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return
  makeFolders(path.dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o711 })
    // A narrow umask takes the passing away.
    chmodSync(folder, 0o711)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** An existing data folder, for sub-commands that only look. */
export function findDataFolder(environment: Environment, given: string | undefined): string {
  const folder = dataFolderOf(environment, given)
  if (!statSync(path.join(folder, 'ledger.db'), { throwIfNoEntry: false })?.isFile())
    throw new UsageError('ledger-missing', `there is no ledger in ${escapeText(folder)}`)
  return realpathSync(folder)
}

/**
 * As root every session runs as a user of its own, who must be able to walk to its folder. Null when it can, and always
 * when we are not root: then everything is the one user's.
 */
export function passThroughFault(folder: string): { problem: string; next: string } | null {
  if (process.getuid?.() !== 0) return null
  for (let at = folder; at !== path.dirname(at); at = path.dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) {
      const shown = escapeText(at)
      return {
        problem: `the user of a session can not pass through ${shown}`,
        next: `chmod o+x ${shown}, or name another data folder: --data DIR`,
      }
    }
  }
  return null
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
