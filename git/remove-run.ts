import { existsSync, rmSync } from 'node:fs'
import { execa } from 'execa'
import { hostPath } from './run-git.ts'

const removeWallMs = 120_000

/**
 * Removes folders of a session as the session's user, then folders of the host. As root, removing what a user may still
 * write would follow a link it swaps in meanwhile; as that user, rm can take away nothing but its own. Safe to repeat.
 */
export async function removeAs(user: { uid: number; gid: number }, theirs: readonly string[], ours: readonly string[]): Promise<void> {
  for (const folder of theirs) await removeTheirs(user, folder)
  for (const folder of [...theirs, ...ours]) rmSync(folder, { recursive: true, force: true })
}

async function removeTheirs(user: { uid: number; gid: number }, folder: string): Promise<void> {
  if (!existsSync(folder)) return
  // The folder itself stays in a parent that is not theirs; rm empties it and the host takes the empty one away.
  if (await runAs(user, ['rm', '-rf', '--', folder])) return
  // A folder without write permission keeps its content until its owner gives it back; chmod follows no links here.
  await runAs(user, ['chmod', '-R', 'u+rwX', '--', folder])
  await runAs(user, ['rm', '-rf', '--', folder])
}

async function runAs(user: { uid: number; gid: number }, [file, ...argv]: string[]): Promise<boolean> {
  await execa(file as string, argv, {
    env: { PATH: hostPath, LC_ALL: 'C' },
    extendEnv: false,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore'],
    ...(process.getuid?.() === 0 ? user : {}),
    timeout: removeWallMs,
    killSignal: 'SIGKILL',
    reject: false,
  })
  const folder = argv.at(-1) as string
  return !existsSync(folder)
}
