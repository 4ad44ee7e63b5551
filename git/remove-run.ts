import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { hostPath } from './run-git.ts'

const removeWallMs = 120_000

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
  const isRoot = process.getuid?.() === 0
  if (isRoot && stat.uid === 0) {
    for (const name of readdirSync(folder)) await removeRun(join(folder, name))
  } else {
    await removeAs(stat, folder)
    // What is left belongs to another owner. It is only safe to go in when nobody is there who could swap it.
    if (isRoot && existsSync(folder) && !isEmpty(folder) && hasProcesses(stat.uid)) {
      throw new Error(`${folder} can not be removed while processes of uid ${stat.uid} are alive`)
    }
  }
  rmSync(folder, { recursive: true, force: true })
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

async function removeAs(owner: Stats, folder: string): Promise<void> {
  // The folder itself may stand in a parent that is not theirs: rm empties it, and the host takes the empty one away.
  if (await runAs(owner, ['rm', '-rf', '--', folder])) return
  // A folder without its rights keeps its content until its owner takes them back; chmod -R follows no link.
  await runAs(owner, ['chmod', '-R', 'u+rwX', '--', folder])
  await runAs(owner, ['rm', '-rf', '--', folder])
}

/** True when nothing is left in the folder. */
async function runAs({ uid, gid }: Stats, [file, ...argv]: string[]): Promise<boolean> {
  await execa(file as string, argv, {
    env: { PATH: hostPath, LC_ALL: 'C' },
    extendEnv: false,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore'],
    ...(process.getuid?.() === 0 ? { uid, gid } : {}),
    timeout: removeWallMs,
    killSignal: 'SIGKILL',
    reject: false,
  })
  const folder = argv.at(-1) as string
  return !existsSync(folder) || isEmpty(folder)
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}
