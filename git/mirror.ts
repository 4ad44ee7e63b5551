import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { limitTable } from '../config-schema/index.ts'
import { makeReadable, mirrorConfig, writeRepository } from './bare-repository.ts'
import type { Mirror } from './git.ts'
import { gitLimits } from './limits.ts'
import { lockRepository } from './repository-lock.ts'

/** Every mirror of a root host has a group of its own from this range: only sessions of that repository may read its objects. */
const mirrorGidFirst = 50_000

export type OpenMirrorOptions = {
  dataDir: string
  tenant: string
  repositoryId: number
  wallMs?: number
}

/**
 * Opens or makes the mirror of one repository. Its repository proper is the host's alone (0700); `objects` lies beside it
 * and is reached by a link, so that a sandbox can bind it and its user needs no way into anything else.
 */
export async function openMirror({ dataDir, tenant, repositoryId, wallMs }: OpenMirrorOptions): Promise<Mirror> {
  const folder = passable(join(dataDir, 'git', 'mirrors', safeName(tenant), safeName(String(repositoryId))))
  const mirror = { path: join(folder, 'mirror.git'), objects: join(folder, 'objects'), lock: join(folder, 'lock') }
  if (!existsSync(join(mirror.path, 'HEAD'))) await createMirror(mirror, dataDir)
  return { ...mirror, gid: process.getuid?.() === 0 ? statSync(mirror.objects).gid : null, wallMs: wallMs ?? limitTable.gitWallMs.default }
}

async function createMirror(mirror: Pick<Mirror, 'path' | 'objects' | 'lock'>, dataDir: string): Promise<void> {
  const lock = await lockRepository(mirror.lock, gitLimits.lockWaitMs)
  if (!lock) throw new Error(`the mirror at ${mirror.path} stayed locked for ${gitLimits.lockWaitMs} ms`)
  try {
    if (existsSync(join(mirror.path, 'HEAD'))) return
    // A host that died in between leaves a part; nothing uses a mirror without HEAD.
    rmSync(mirror.path, { recursive: true, force: true })
    for (const name of ['pack', 'info']) mkdirSync(join(mirror.objects, name), { recursive: true })
    makeReadable(mirror.objects)
    giveToReaders(mirror.objects, dataDir)
    mkdirSync(mirror.path, { mode: 0o700 })
    symlinkSync('../objects', join(mirror.path, 'objects'))
    writeRepository(mirror.path, { head: 'ref: refs/heads/none', config: mirrorConfig, alternates: [], objects: false })
  } finally {
    lock.release()
  }
}

/** In single mode everything is the one user's; as root the objects' group is what lets a session in. */
function giveToReaders(objects: string, dataDir: string): void {
  if (process.getuid?.() !== 0) {
    chmodSync(objects, 0o700)
    return
  }
  chmodSync(objects, 0o750)
  chownSync(objects, 0, takeGid(join(dataDir, 'git'), objects))
}

/** Exclusive creation of a file named like the number makes it ours for good, whoever else is looking. */
function takeGid(gitFolder: string, objects: string): number {
  const folder = join(gitFolder, 'groups')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const taken = new Set(readdirSync(folder))
  for (let gid = mirrorGidFirst; gid < mirrorGidFirst + gitLimits.mirrorGidsMax; gid++) {
    if (taken.has(String(gid))) continue
    try {
      writeFileSync(join(folder, String(gid)), `${objects}\n`, { flag: 'wx', mode: 0o600 })
      return gid
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  throw new Error(`all ${gitLimits.mirrorGidsMax} groups for mirrors are taken (${folder})`)
}

/** A folder others may pass through but not list. An existing one of the host is left as it is. */
export function passable(folder: string): string {
  if (existsSync(folder)) return folder
  passable(dirname(folder))
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  chmodSync(folder, 0o711)
  return folder
}

export function safeName(name: string): string {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(name)) throw new Error(`not usable as a folder name: ${JSON.stringify(name)}`)
  return name
}
