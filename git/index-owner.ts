import { createHash } from 'node:crypto'

/**
 * Git's index remembers each file's owner as `lstat` gave it, and takes a file for changed when another one is seen. A
 * sandbox shows the session's user under another number, so that every status and every tree would read all files again.
 * This writes the inside numbers into a version 2 index and renews its checksum; nothing else of it changes. The fields
 * that show a hidden edit (ctime, mtime, size, inode) stay as the checkout wrote them.
 *
 * Layout (gitformat-index): 12 bytes header; per entry 62 bytes with the uid at 28 and the gid at 32, then the name, then
 * 1-8 NUL to a multiple of 8; extensions; SHA-1 of everything before it.
 */
export function setIndexOwner(index: Uint8Array, owner: { uid: number; gid: number }): Buffer {
  const bytes = Buffer.from(index)
  for (const { at } of walkEntries(bytes)) {
    bytes.writeUInt32BE(owner.uid, at + 28)
    bytes.writeUInt32BE(owner.gid, at + 32)
  }
  const body = bytes.subarray(0, bytes.length - 20)
  createHash('sha1')
    .update(body)
    .digest()
    .copy(bytes, bytes.length - 20)
  return bytes
}

/** The paths of all submodules in a version 2 index. */
export function listGitlinks(index: Uint8Array): Buffer[] {
  const bytes = Buffer.from(index.buffer, index.byteOffset, index.byteLength)
  const found: Buffer[] = []
  for (const { at, end } of walkEntries(bytes)) {
    if (bytes.readUInt32BE(at + 24) === gitlinkMode) found.push(bytes.subarray(at + 62, end))
  }
  return found
}

const gitlinkMode = 0o160000

function* walkEntries(bytes: Buffer): Generator<{ at: number; end: number }> {
  const count = countIndexEntries(bytes)
  let at = 12
  for (let entry = 0; entry < count; entry++) {
    const end = bytes.indexOf(0, at + 62)
    if (end < 0) throw new Error('the index ends inside an entry')
    yield { at, end }
    at += (end - at + 8) & ~7
  }
}

export function countIndexEntries(index: Uint8Array): number {
  const bytes = Buffer.from(index.buffer, index.byteOffset, index.byteLength)
  if (bytes.length < 32 || bytes.toString('latin1', 0, 4) !== 'DIRC' || bytes.readUInt32BE(4) !== 2) {
    throw new Error('not a version 2 git index')
  }
  return bytes.readUInt32BE(8)
}
