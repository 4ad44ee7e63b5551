import type { ChangedFile } from '../domain/index.ts'
import { readFileAt, type Store } from '../git/index.ts'
import { findCredentials } from '../telemetry/index.ts'

export type Leaks = {
  /** Files that add what looks like a credential, with its kind; they are left out of the change. */
  found: { path: string; reason: string }[]
  /** Files too large or too many to be looked through, or a change without a patch. */
  unsearched: ReadonlySet<string>
}

const binaryBytesMax = 1_048_576
const binaryFilesMax = 50

/**
 * Looks through what a change adds, the second line after a sandbox in which there is no credential of ours: a token that
 * was in the repository's own commands, or that a model was talked into writing, is not pushed where everybody reads it.
 * What a file only moves around, since the same text goes elsewhere in it, is not new.
 */
export async function findLeaks(
  store: Store,
  tree: string,
  { files, patch }: { files: readonly ChangedFile[]; patch: Uint8Array | null },
): Promise<Leaks> {
  if (patch === null) return { found: [], unsearched: new Set(files.map(file => file.path)) }
  const sections = sectionsOf(files, patch)
  const found: Leaks['found'] = []
  const unsearched = new Set<string>()
  let binaries = 0
  for (const [index, file] of files.entries()) {
    if (file.status === 'deleted') continue
    const { added, removed, binary } = sections[index] as Section
    let text = added
    if (binary) {
      binaries += 1
      const read =
        binaries > binaryFilesMax ? null : await readFileAt({ ...store.mirror, path: store.path }, tree, file.path, binaryBytesMax)
      if (read?.kind === 'file') text = Buffer.from(read.content).toString('latin1')
      else unsearched.add(file.path)
    }
    const names = findCredentials(text).flatMap(credential =>
      credential.text && removed.includes(credential.text) ? [] : [credential.name],
    )
    if (names.length > 0) found.push({ path: file.path, reason: `adds what looks like a ${[...new Set(names)].join(' and a ')}` })
  }
  return { found, unsearched }
}

type Section = { added: string; removed: string; binary: boolean }

/** The patch by file, in the order of the files. A file that became a link, or the reverse, has two parts in it. */
function sectionsOf(files: readonly ChangedFile[], patch: Uint8Array): Section[] {
  const parts = splitPatch(Buffer.from(patch.buffer, patch.byteOffset, patch.byteLength))
  let at = 0
  const sections = files.map(file => {
    const own = parts.slice(at, at + (file.status === 'type-changed' ? 2 : 1))
    at += own.length
    return readSection(own.join('\n'))
  })
  if (at !== parts.length || parts.length < files.length) throw new Error(`a patch of ${files.length} files has ${parts.length} parts`)
  return sections
}

const partStart = 'diff --git '

/** No line inside a part can begin so: those of a hunk begin with one of ` +-\`, those of binary data hold no blank. */
function splitPatch(patch: Buffer): string[] {
  const starts: number[] = []
  if (patch.subarray(0, partStart.length).equals(Buffer.from(partStart))) starts.push(0)
  for (let at = patch.indexOf(`\n${partStart}`); at !== -1; at = patch.indexOf(`\n${partStart}`, at + 1)) starts.push(at + 1)
  return starts.map((start, index) => patch.toString('latin1', start, starts[index + 1] ?? patch.length))
}

function readSection(text: string): Section {
  const lines = text.split('\n')
  const hunks = lines.slice(
    Math.max(
      0,
      lines.findIndex(line => line.startsWith('@@')),
    ),
  )
  const of = (sign: string) =>
    hunks
      .filter(line => line.startsWith(sign))
      .map(line => line.slice(1))
      .join('\n')
  return { added: of('+'), removed: of('-'), binary: lines.includes('GIT binary patch') }
}
