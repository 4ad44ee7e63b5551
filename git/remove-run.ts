import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { gitLimits } from './limits.ts'
import { hostPath } from './run-git.ts'

/**
 * Removes a folder in which sessions worked, whoever owns what in it. Safe to repeat; nothing there is no error.
 *
 * Danger: as root, removing a folder that a session's user can still write would follow a link it swaps in meanwhile. So
 * the host itself walks only through folders of its own, and hands every other one to rm(1) running as that folder's
 * owner, which can take away nothing but its own. rm also copes with names deeper than a path may be long.
 */
export async function removeRun(folder: string): Promise<void> {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  if (!stat) return
  if (!stat.isDirectory()) return rmSync(folder, { force: true })
  for (const { owner, folders } of foreignFolders(folder, stat)) {
    await removeAs(owner, folders)
    // What is left belongs to another owner. It is only safe to go in when nobody is there who could swap it.
    const left = isRoot ? folders.find(path => !isGone(path)) : undefined
    if (left !== undefined && hasProcesses(owner.uid)) {
      throw new Error(`${left} can not be removed while processes of uid ${owner.uid} are alive`)
    }
  }
  rmSync(folder, { recursive: true, force: true })
}

const isRoot = process.getuid?.() === 0

type Owned = { owner: { uid: number; gid: number }; folders: string[] }

/** The topmost folders that are not root's, by owner. When the host is not root everything is handed over in one piece. */
function foreignFolders(folder: string, stat: Stats): Owned[] {
  const owners = new Map<string, Owned>()
  const visit = (path: string, { uid, gid }: Stats) => {
    if (isRoot && uid === 0) {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        const below = join(path, entry.name)
        const stat = entry.isDirectory() ? lstatSync(below, { throwIfNoEntry: false }) : undefined
        if (stat) visit(below, stat)
      }
      return
    }
    const owned = owners.get(`${uid}:${gid}`) ?? { owner: { uid, gid }, folders: [] }
    owned.folders.push(path)
    owners.set(`${uid}:${gid}`, owned)
  }
  visit(folder, stat)
  return [...owners.values()]
}

function hasProcesses(uid: number): boolean {
  return readdirSync('/proc').some(name => /^\d+$/.test(name) && isAlive(join('/proc', name), uid))
}

/** A zombie that nobody waited for does nothing any more; its folder in /proc still has its owner. */
function isAlive(process: string, uid: number): boolean {
  try {
    if (lstatSync(process).uid !== uid) return false
    const stat = readFileSync(join(process, 'stat'), 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

async function removeAs(owner: Owned['owner'], folders: readonly string[]): Promise<void> {
  for (let from = 0; from < folders.length; from += foldersAtOnce) {
    const some = folders.slice(from, from + foldersAtOnce)
    // A folder itself may stand in a parent that is not theirs: rm empties it, and the host takes the empty one away.
    if (await runAs(owner, ['rm', '-rf', '--'], some)) continue
    // A folder without its rights keeps its content until its owner takes them back; chmod -R follows no link.
    await runAs(owner, ['chmod', '-R', 'u+rwX', '--'], some)
    await runAs(owner, ['rm', '-rf', '--'], some)
  }
}

const foldersAtOnce = 200

/** True when nothing is left in the folders. */
async function runAs({ uid, gid }: Owned['owner'], [file, ...argv]: string[], folders: readonly string[]): Promise<boolean> {
  await execa(file as string, [...argv, ...folders], {
    env: { PATH: hostPath, LC_ALL: 'C' },
    extendEnv: false,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore'],
    ...(isRoot ? { uid, gid } : {}),
    timeout: gitLimits.removeWallMs,
    killSignal: 'SIGKILL',
    reject: false,
  })
  return folders.every(isGone)
}

function isGone(folder: string): boolean {
  return !existsSync(folder) || isEmpty(folder)
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}
