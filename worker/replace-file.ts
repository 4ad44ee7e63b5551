import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'

let parts = 0

/**
 * Written aside and renamed: a reader sees the old file or the new one, also after a power cut or a full disk. Whether the
 * file is there may therefore stand for "it is whole". Safe to repeat, and by several processes at once.
 */
export async function replaceFile(file: string, content: string | Uint8Array | Iterable<string>): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  parts += 1
  const part = `${file}.${process.pid}.${parts}.part`
  try {
    const handle = await open(part, 'w', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(part, file)
  } catch (error) {
    // On a full disk each new try would leave one more of them.
    await rm(part, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Takes away what processes that died left half written in a folder; `before`: nobody writes that long. */
export async function removeParts(folder: string, before: number): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(name => name.endsWith('.part'))) {
    const part = path.join(folder, name)
    const written = await stat(part).catch(() => null)
    if (written !== null && written.mtimeMs < before) await rm(part, { force: true })
  }
}
