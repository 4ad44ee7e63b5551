import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { createPages, openKeptFile } from '../app/index.ts'
import { bundlePath, patchPath, publicKeysFolder, taskFolder } from '../worker/index.ts'
import { readOrMakeKey } from './keys.ts'
import type { Parts } from './parts.ts'

/** The pages behind links, from the files that workers left in the data folder. */
export function openPages(apiUrl: string, { dataDir, ledger, logger }: Parts): ReturnType<typeof createPages> {
  return createPages({
    ledger,
    readPatch: taskId => openKeptFile(patchPath(taskFolder(dataDir, taskId))),
    readBundle: taskId => openKeptFile(bundlePath(taskFolder(dataDir, taskId))),
    publicKeys: () => readPublicKeys(publicKeysFolder(dataDir)),
    linkKey: readLinkKey(dataDir),
    githubHost: hostOf(apiUrl),
    programName: 'grokbot',
    now: Date.now,
    logger,
  })
}

/** What the links to pages are made with; both halves of an installation use the same. */
export function readLinkKey(dataDir: string): Uint8Array {
  return readOrMakeKey(dataDir, 'links.key')
}

/** None has signed yet: there is no folder. */
async function readPublicKeys(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter(name => name.endsWith('.pem')).map(name => readFileSync(path.join(folder, name), 'utf8'))
}

/** `https://api.github.com` serves `github.com`; a server of one's own has both on one host; a tenant's API is a host below. */
function hostOf(apiUrl: string): string {
  return new URL(apiUrl).host.replace(/^api\./, '')
}
