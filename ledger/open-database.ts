import Database from 'better-sqlite3'
import { sqliteAddonPath } from '../entries.ts'

/**
 * Every database is opened here, with the addon that `entries.ts` names: a built folder has no package to look for it in. All parts of
 * a process must take the same file, or SQLite's account of its own locks would be kept twice.
 */
export function openDatabase(path: string, options: Database.Options = {}): Database.Database {
  const nativeBinding = sqliteAddonPath()
  return new Database(path, nativeBinding === undefined ? options : { ...options, nativeBinding })
}
