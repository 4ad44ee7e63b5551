import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { checkTree } from './check-tree.ts'
import { faultOfPath } from './entry-name.ts'
import type { AdoptedTree, Store, TreePlan, TreeRules } from './git.ts'
import { gitLimits } from './limits.ts'
import { checkSha } from './ref-name.ts'
import { runGit } from './run-git.ts'
import { showPath } from './shown-path.ts'

export type AdoptTreeOptions = { store: Store; plan: TreePlan; rules: TreeRules; baseTree: string }

/**
 * Takes the objects a tree sandbox wrote into the store, if all of the tree is in order. What lies in the quarantine was
 * written inside the sandbox and is read as hostile: no link is followed, every size is bounded, git checks each object,
 * and until the whole tree has passed, the objects lie in a folder of the host's own.
 */
export async function adoptTree({ store, plan, rules, baseTree }: AdoptTreeOptions): Promise<AdoptedTree> {
  const lists = readLists(plan)
  if (lists.kind === 'refused') return lists
  const { tree } = lists
  // The store has it, and every object of it was checked when it came.
  if (tree === checkSha(baseTree) || tree === plan.adoptedTree) return adopted(lists)
  const incoming = join(store.path, `incoming-${randomBytes(8).toString('hex')}`)
  mkdirSync(join(incoming, 'pack'), { recursive: true, mode: 0o700 })
  try {
    const env = { GIT_OBJECT_DIRECTORY: incoming, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(store.path, 'objects') }
    const packed = tree === plan.openedTree ? null : await indexPack(store, plan, rules, env)
    const fault = packed ?? (await checkTree({ store, env, baseTree, tree, rules }))
    if (fault) return fault
    moveIn(incoming, join(store.path, 'objects'))
    return adopted(lists)
  } finally {
    rmSync(incoming, { recursive: true, force: true })
  }
}

type Refused = Extract<AdoptedTree, { kind: 'refused' }>
type Lists = { kind: 'lists'; tree: string; untracked: Buffer[]; gitlinks: Buffer[]; specials: Buffer[] }

function adopted({ tree, untracked, gitlinks, specials }: Lists): AdoptedTree {
  const [usable, unusable]: [string[], string[]] = [[], []]
  for (const path of untracked) (faultOfPath(path) === null ? usable : unusable).push(showPath(path))
  return {
    kind: 'adopted',
    tree,
    untracked: usable,
    gitlinksLeftOut: [...new Set(gitlinks.map(showPath))],
    specialsLeftOut: [...specials.map(showPath), ...unusable],
  }
}

function readLists(plan: TreePlan): Lists | Refused {
  const unreadable = readList(plan, 'unreadable')[0]
  if (unreadable) return { kind: 'refused', path: showPath(unreadable).replace(/^\.\//, ''), reason: 'it can not be read by its own user' }
  const changed = readList(plan, 'gitlinks-changed')
  if (plan.selection === 'change' && changed[0]) return { kind: 'refused', path: showPath(changed[0]), reason: 'a submodule was changed' }
  const tree = readOut(plan, 'tree', 64)?.toString('latin1').trim() ?? ''
  if (!/^[0-9a-f]{40}$/.test(tree)) return { kind: 'refused', path: '', reason: 'the tree sandbox gave no tree' }
  const gitlinks = [...readList(plan, 'gitlinks'), ...changed]
  return { kind: 'lists', tree, untracked: readList(plan, 'untracked'), gitlinks, specials: readList(plan, 'specials') }
}

function readList(plan: TreePlan, name: string): Buffer[] {
  const bytes = readOut(plan, name, gitLimits.listBytesMax) ?? Buffer.alloc(0)
  const paths: Buffer[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from)
    if (end < 0) break
    paths.push(bytes.subarray(from, end))
    from = end + 1
  }
  return paths
}

function readOut(plan: TreePlan, name: string, bytesMax: number): Buffer | null {
  const fd = openOut(join(plan.quarantine, name), bytesMax)
  if (fd === null) return null
  try {
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Opens a file the sandbox wrote: never through a link, never waiting on a FIFO, a regular file of bounded size or null. */
function openOut(path: string, bytesMax: number): number | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
  const stat = fstatSync(fd)
  if (stat.isFile() && stat.size <= bytesMax) return fd
  closeSync(fd)
  return null
}

async function indexPack(store: Store, plan: TreePlan, rules: TreeRules, env: Record<string, string>): Promise<Refused | null> {
  const inputFd = openOut(join(plan.quarantine, 'pack'), rules.packBytesMax)
  if (inputFd === null) {
    return { kind: 'refused', path: '', reason: `the objects are missing, no plain file, or more than ${rules.packBytesMax} bytes` }
  }
  try {
    const result = await runGit({
      gitDir: store.path,
      argv: [
        '-c',
        'core.bigFileThreshold=16m',
        '-c',
        'core.packedGitWindowSize=32m',
        'index-pack',
        // git itself only remarks on odd modes, and its own diff shows them as the nearest proper one.
        '--strict=badFilemode=error',
        '--fix-thin',
        '--stdin',
        `--max-input-size=${rules.packBytesMax}`,
      ],
      env,
      inputFd,
      wallMs: store.mirror.wallMs,
      launcher:
        process.platform === 'linux'
          ? ['prlimit', `--as=${gitLimits.indexPackMemoryBytesMax}`, `--cpu=${gitLimits.indexPackCpuSecondsMax}`]
          : [],
    })
    if (result.exitCode === 0) return null
    return { kind: 'refused', path: '', reason: `git does not accept the objects (${result.ended}): ${result.stderr.trim().slice(-500)}` }
  } finally {
    closeSync(inputFd)
  }
}

/** The index comes last: git sees a pack only by it. */
function moveIn(incoming: string, objects: string): void {
  const names = readdirSync(join(incoming, 'pack')).filter(name => /^pack-[0-9a-f]{40}\.(pack|rev|idx)$/.test(name))
  names.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))
  const target = join(objects, 'pack')
  for (const name of names) {
    if (!existsSync(join(target, name))) renameSync(join(incoming, 'pack', name), join(target, name))
  }
  const fd = openSync(target, constants.O_RDONLY)
  fsyncSync(fd)
  closeSync(fd)
}
