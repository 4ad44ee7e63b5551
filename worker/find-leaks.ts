import { setImmediate } from 'node:timers/promises'
import type { ChangedFile } from '../domain/index.ts'
import { readFileAt, type Store } from '../git/index.ts'
import { findCredentials } from '../telemetry/index.ts'
import { workerLimits } from './limits.ts'

type Limits = { binaryBytesMax: number; binaryFilesMax: number }

/** A file that is left out of the change, and why. */
export type Leak = { path: string; reason: string }

/**
 * Looks through what a change adds, the second line after a sandbox in which there is no credential of ours: a token that
 * was in the repository's own commands, or that a model was talked into writing, is not pushed where everybody reads it.
 * What a file only moves around, since the same text goes elsewhere in it, is not new. What can not be looked through, as it
 * is too large or one of too many, is left out too. A change without a patch is looked through file by file.
 */
export async function findLeaks(
  store: Store,
  tree: string,
  { files, patch }: { files: readonly ChangedFile[]; patch: Uint8Array | null },
  limits: Limits = workerLimits,
): Promise<Leak[]> {
  const sections = patch === null ? null : sectionsOf(files, patch)
  const leaks: Leak[] = []
  let alone = 0
  for (const [index, file] of files.entries()) {
    if (file.status === 'deleted') continue
    if (file.status !== 'modified' && findCredentials(file.path).length > 0) {
      leaks.push({ path: file.path, reason: 'its name holds what looks like a credential' })
      continue
    }
    const section = sections?.[index] ?? null
    const read =
      section && !section.binary
        ? { kind: 'text' as const, ...section }
        : await readAlone(store, tree, file.path, { count: ++alone, ...limits })
    const reason = read.kind === 'unread' ? `not searched for credentials: ${read.why}` : await reasonOf(read)
    if (reason !== null) leaks.push({ path: file.path, reason })
  }
  return leaks
}

type Added = { kind: 'text'; added: string; removed: string }

/** All of a file: what of it is new does not show in a patch that says so in bytes, or that there is none of. */
async function readAlone(
  store: Store,
  tree: string,
  path: string,
  { count, binaryBytesMax, binaryFilesMax }: Limits & { count: number },
): Promise<Added | { kind: 'unread'; why: string }> {
  if (count > binaryFilesMax) return { kind: 'unread', why: `more than ${binaryFilesMax} files would have to be read whole` }
  const read = await readFileAt({ ...store.mirror, path: store.path }, tree, path, binaryBytesMax)
  if (read.kind === 'file') return { kind: 'text', added: Buffer.from(read.content).toString('latin1'), removed: '' }
  if (read.kind === 'absent') return { kind: 'unread', why: 'it is not there' }
  if (read.reason === 'too-large') return { kind: 'unread', why: `larger than ${binaryBytesMax} bytes` }
  return { kind: 'unread', why: `a ${read.reason} in a change that is too large for a patch` }
}

async function reasonOf({ added, removed }: Added): Promise<string | null> {
  const found = await searchAll(added)
  if (found.length === 0) return null
  // One that went is known by its whole text: to look for each in all that was removed takes minutes for a file made of them.
  const known = new Set((await searchAll(removed)).map(({ text }) => text))
  const names = new Set(found.flatMap(({ text, name }) => (text && known.has(text) ? [] : [name])))
  return names.size === 0 ? null : `adds what looks like a ${[...names].join(' and a ')}`
}

/**
 * In pieces of whole lines, each of which begins well before the end of the one before: leases are renewed on this thread,
 * and it is theirs in between.
 */
async function searchAll(text: string): Promise<ReturnType<typeof findCredentials>> {
  const { searchedAtOnceCharacters: most, searchedTwiceCharacters: twice } = workerLimits
  const found: ReturnType<typeof findCredentials> = []
  for (let from = 0; ; ) {
    await setImmediate()
    const end = from + most < text.length ? lineEnd(text, from + most, twice) : text.length
    for (const credential of findCredentials(text.slice(from, end))) found.push(credential)
    if (end === text.length) return found
    from = lineEnd(text, end - twice, twice)
  }
}

/** The last end of a line before this place; the place itself where there is none near. */
function lineEnd(text: string, place: number, near: number): number {
  const found = text.slice(place - near, place).lastIndexOf('\n')
  return found === -1 ? place : place - near + found + 1
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
