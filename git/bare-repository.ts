import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type RepositoryFiles = {
  /** What HEAD says: a commit, or a branch that need not exist. */
  head: string
  config: string
  /** Folders with objects, as git reads them: absolute paths. */
  alternates: readonly string[]
  /** Null: the folder exists already, or git is told of another one. */
  objects: boolean
}

/** Writes what git needs to accept a folder as a repository, without starting git and without templates or hooks. */
export function writeRepository(path: string, files: RepositoryFiles): void {
  mkdirSync(join(path, 'refs', 'heads'), { recursive: true, mode: 0o755 })
  mkdirSync(join(path, 'refs', 'tags'), { recursive: true, mode: 0o755 })
  if (files.objects) {
    mkdirSync(join(path, 'objects', 'pack'), { recursive: true, mode: 0o755 })
    mkdirSync(join(path, 'objects', 'info'), { recursive: true, mode: 0o755 })
    if (files.alternates.length > 0) {
      writeFileSync(join(path, 'objects', 'info', 'alternates'), files.alternates.map(folder => `${folder}\n`).join(''), { mode: 0o644 })
    }
  }
  writeFileSync(join(path, 'config'), files.config, { mode: 0o644 })
  // HEAD comes last: git takes a folder without it for no repository, so a half-written one is written again.
  writeFileSync(join(path, 'HEAD'), `${files.head}\n`, { mode: 0o644 })
}

/** Makes a small folder of the host readable for every user, whatever umask the host has. Links are left as they are. */
export function makeReadable(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755)
    else if (entry.isFile()) chmodSync(join(entry.parentPath, entry.name), 0o644)
  }
  chmodSync(folder, 0o755)
}

export const bareConfig = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n'
/** Objects are readable for whoever may enter their folder, whatever umask the host has. */
export const mirrorConfig = `${bareConfig}\tsharedRepository = 0644\n`
export const workConfig =
  '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[gc]\n\tauto = 0\n'
