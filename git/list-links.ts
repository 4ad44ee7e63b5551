import type { Store } from './git.ts'
import { gitLimits } from './limits.ts'
import { readBlobs } from './read-blobs.ts'
import { checkSha } from './ref-name.ts'
import { git } from './run-git.ts'
import { showPath } from './shown-path.ts'

/** Every symbolic link of a tree with what it says; nothing is followed. */
export async function listLinks(store: Store, tree: string): Promise<{ path: string; target: string }[]> {
  const output = await git({ gitDir: store.path, argv: ['ls-tree', '-r', '-z', checkSha(tree)], wallMs: store.mirror.wallMs })
  const links: { path: string; id: string }[] = []
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from)
    // `<mode> <type> <id>\t<path>`
    if (output.toString('latin1', from, from + 6) === '120000') {
      links.push({ path: showPath(output.subarray(from + 53, end)), id: output.toString('latin1', from + 12, from + 52) })
    }
    from = end + 1
  }
  const targets = await readBlobs(
    store,
    links.map(link => link.id),
    gitLimits.linkBytesMax,
  )
  return links.flatMap(({ path, id }) => {
    const target = targets.get(id)
    return target ? [{ path, target: showPath(target) }] : []
  })
}
