import { isUtf8 } from 'node:buffer'
import type { Store } from './git.ts'
import { checkSha } from './ref-name.ts'
import { git } from './run-git.ts'
import { pathBytes } from './shown-path.ts'

/** Lines as in a unified diff: counted from 1; of an empty side `start` is the line before. `lines` have their sign and no end. */
export type Hunk = { oldStart: number; oldCount: number; newStart: number; newCount: number; lines: string[] }

/** What changed in one file between two trees or commits. Null: no text, or a side without a last line end. */
export async function diffHunks(store: Store, from: string, to: string, path: string, contextLines: number): Promise<Hunk[] | null> {
  const name = pathBytes(path)
  // An argument is text; a name that is none is nobody's.
  if (!isUtf8(name)) return null
  const argv = [
    '--literal-pathspecs',
    'diff-tree',
    '-p',
    `-U${contextLines}`,
    ...['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--no-relative', '--src-prefix=a/', '--dst-prefix=b/'],
    checkSha(from),
    checkSha(to),
    '--',
    name.toString('utf8'),
  ]
  const output = await git({ gitDir: store.path, argv, wallMs: store.mirror.wallMs })
  return isUtf8(output) ? parseHunks(output.toString('utf8')) : null
}

const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

function parseHunks(text: string): Hunk[] | null {
  const hunks: Hunk[] = []
  for (const line of text.split('\n')) {
    const found = head.exec(line)
    if (found) {
      const [, oldStart = '', oldCount = '1', newStart = '', newCount = '1'] = found
      const counts = { oldStart: Number(oldStart), oldCount: Number(oldCount), newStart: Number(newStart), newCount: Number(newCount) }
      hunks.push({ ...counts, lines: [] })
    } else if (/^(?:\\|Binary files )/.test(line)) return null
    else if (/^[ +-]/.test(line)) hunks.at(-1)?.lines.push(line)
  }
  return hunks
}
