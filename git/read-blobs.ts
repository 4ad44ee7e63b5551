import type { Store } from './git.ts'
import { git } from './run-git.ts'

/** The contents of those of the blobs that have at most `bytesMax` bytes; an id that is no blob is left out. */
export async function readBlobs(store: Store, ids: readonly string[], bytesMax: number): Promise<Map<string, Buffer>> {
  const call = { gitDir: store.path, wallMs: store.mirror.wallMs }
  const unique = [...new Set(ids)]
  if (unique.length === 0) return new Map()
  const sizes = await git({ ...call, argv: ['cat-file', '--batch-check=%(objecttype) %(objectsize)'], input: lines(unique) })
  const rows = sizes.toString('latin1').split('\n')
  const small = unique.filter((_, row) => {
    const [type, size] = (rows[row] ?? '').split(' ')
    return type === 'blob' && Number(size) <= bytesMax
  })
  if (small.length === 0) return new Map()
  return parseBatch(await git({ ...call, argv: ['cat-file', '--batch=%(objectname) %(objectsize)'], input: lines(small) }))
}

/** `<id> <size>\n<content>\n` for each. */
function parseBatch(output: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    const [id = '', size = ''] = output.toString('latin1', at, end).split(' ')
    found.set(id, output.subarray(end + 1, end + 1 + Number(size)))
    at = end + 1 + Number(size) + 1
  }
  return found
}

function lines(ids: readonly string[]): string {
  return ids.map(id => `${id}\n`).join('')
}
