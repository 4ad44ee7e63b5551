import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Environment } from '../../config-schema/index.ts'
import { fetchMirror, openMirror, openStore, openWorkspace } from '../../git/index.ts'
import { describeProfile, type Mount, type Profile, profiles, type SandboxUser } from '../../sandbox/index.ts'
import type { WorkerSettings } from '../../worker/index.ts'
import { dataFolderOf } from '../data-folder.ts'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'
import { workerSettings } from '../read-operator.ts'
import { readLocalRepository } from '../run/local-repository.ts'
import { sandboxUser } from '../sandbox-user.ts'

/** A throwaway place for one sandbox, opened as a task opens its own; nothing of it outlives `close`. */
export type SandboxRoom = {
  folder: string
  runDir: string
  user: SandboxUser
  settings: WorkerSettings
  workspace: { source: string; mode: 'rw' } | null
  mounts: readonly Mount[]
  close(): Promise<void>
}

export function requireProfile(name: string): Profile {
  const profile = describeProfile(name)
  if (profile) return profile
  throw new UsageError('profile-unknown', `there is no sandbox profile ${escapeText(name)}`, [
    `there are ${profiles.map(each => each.name).join(', ')}`,
  ])
}

export async function openRoom(
  environment: Environment,
  options: { data?: string; repo?: string; settings?: WorkerSettings },
): Promise<SandboxRoom> {
  const settings = options.settings ?? workerSettings(environment, dataFolderOf(environment, options.data))
  const folder = await mkdtemp(path.join(tmpdir(), 'grokbot-sandbox-'))
  await chmod(folder, 0o711)
  const runDir = path.join(folder, 'run')
  await mkdir(runDir, { mode: 0o711 })
  const user = sandboxUser(settings, 1 + (process.pid % roomSlots))
  const room = { folder, runDir, user, settings, workspace: null, mounts: [], close: () => rm(folder, { recursive: true, force: true }) }
  if (options.repo === undefined) return room
  try {
    return { ...room, ...(await checkOut(options.repo, folder, user)) }
  } catch (error) {
    await room.close()
    throw error
  }
}

/** As with runs: side by side, each has a user of its own. */
const roomSlots = 120

async function checkOut(repo: string, folder: string, user: SandboxUser) {
  const { root, base } = await readLocalRepository(repo, null)
  const dataDir = path.join(folder, 'data')
  const mirror = await openMirror({ dataDir, tenant: 'local', repositoryId: 1 })
  const fetched = await fetchMirror(mirror, { url: root })
  if (fetched.kind !== 'fetched') throw new Error(`the repository could not be fetched: ${fetched.message}`)
  const store = openStore({ dataDir, mirror, taskId: 'exec' })
  const owner = mirror.gid === null ? user : { uid: user.uid, gid: mirror.gid }
  const workspace = await openWorkspace({ mirror, store, sha: base.sha, runDir: folder, user: owner })
  return { user: owner, workspace: { source: workspace.path, mode: 'rw' as const }, mounts: workspace.agentMounts }
}
