import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { entryPlaces } from '../../entries.ts'
import { buildFolder } from './build-folder.ts'

/** Builds the program for one run of the tests, in a folder of its own: it starts in a third of the source's time. */
export async function buildProgram(root: string): Promise<{ program: string; remove(): void }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'grokbot-program-'))
  // Sandboxes mount parts of it as other users.
  chmodSync(folder, 0o755)
  await buildFolder(root, folder)
  return { program: path.join(folder, entryPlaces().main.built), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
