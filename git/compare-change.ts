import { readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { Borrowed } from './borrow-repository.ts'
import { type BytePath, listChanged, listFiltered, listStaged } from './list-uncommitted.ts'
import type { RawChange } from './raw-change.ts'
import { lstatAt } from './stat-at.ts'

/** How a person's work tree stands to a change of its HEAD. */
export type Standing =
  | { kind: 'clean' }
  | { kind: 'applied' }
  /** The index has the change, and these files are others again. */
  | { kind: 'edited-since'; paths: BytePath[] }
  /** Applying was ended in between: so many files are done. `odd`: neither as before, nor as after, nor gone. */
  | { kind: 'half'; done: number; of: number; odd: BytePath[] }
  | { kind: 'uncommitted'; paths: BytePath[] }
  | { kind: 'in-the-way'; path: BytePath }
  /** It could not be found out, or not in time. */
  | { kind: 'unknown' }

type Compared = { base: string; tree: string; changes: readonly RawChange[] }

/**
 * Git writes the index last, so a change that was ended in between shows in files alone: some are exactly as the change
 * has them, and the index is the base's. Files with a filter that the change does not name are nobody's matter here.
 */
export async function compareChange(borrowed: Borrowed, { base, tree, changes }: Compared): Promise<Standing> {
  const [staged, toCome, changed] = await Promise.all([
    listStaged(borrowed, base),
    listStaged(borrowed, tree),
    listChanged(borrowed, join(borrowed.folder, 'index')),
  ])
  const filtered = changed && (await listFiltered(borrowed, changed))
  const notNew = await listNotNew(borrowed, changes)
  if (!staged || !toCome || !changed || !filtered || !notNew) return { kind: 'unknown' }
  const sure = changed.filter(path => !filtered.has(path))
  if (toCome.length === 0) return sure.length === 0 ? { kind: 'applied' } : { kind: 'edited-since', paths: sure }
  const paths = new Set(changes.map(pathOf))
  const foreign = new Set([...staged, ...sure.filter(path => !paths.has(path))])
  if (foreign.size > 0) return { kind: 'uncommitted', paths: [...foreign] }
  try {
    const obstacle = findObstacle(borrowed.theirs.root, changes)
    if (obstacle !== null) return { kind: 'in-the-way', path: obstacle }
    return standingOf(borrowed.theirs.root, changes, { changed: new Set(changed), notNew: new Set(notNew) })
  } catch {
    // A folder that can not be looked into may hold anything.
    return { kind: 'unknown' }
  }
}

type Lists = { changed: ReadonlySet<BytePath>; notNew: ReadonlySet<BytePath> }

function standingOf(root: string, changes: readonly RawChange[], { changed, notNew }: Lists): Standing {
  const states = changes.map(change => {
    const path = pathOf(change)
    const file = lookAt(root, path)
    const isThere = file !== null && !file.isDirectory()
    const isOld = isAdded(change) ? !isThere : !changed.has(path)
    const isNew = isRemoved(change) ? !isThere : !notNew.has(path)
    // What git has just made and not filled yet is empty: nothing of anybody's is in it.
    return { path, isOld, isNew, isEmpty: !isThere || (file.isFile() && file.size === 0), added: isAdded(change) }
  })
  const different = states.filter(({ isOld }) => !isOld)
  if (different.length === 0) return { kind: 'clean' }
  const done = different.filter(({ isNew }) => isNew).length
  const others = different.filter(({ isNew, isEmpty }) => !isNew && (done === 0 || !isEmpty))
  const stranger = others.find(({ added }) => added)
  if (stranger) return { kind: 'in-the-way', path: stranger.path }
  const odd = others.map(({ path }) => path)
  return done === 0 ? { kind: 'uncommitted', paths: odd } : { kind: 'half', done, of: changes.length, odd }
}

/** Paths of the change whose file is not what the change makes of it: compared with an index of these entries only. */
async function listNotNew(borrowed: Borrowed, changes: readonly RawChange[]): Promise<BytePath[] | null> {
  const index = join(borrowed.folder, 'new-files-index')
  const entries = changes.filter(change => !isRemoved(change)).map(({ newMode, newId, path }) => [newMode, newId, path] as const)
  const input = Buffer.concat(entries.map(([mode, id, path]) => Buffer.concat([Buffer.from(`${mode} ${id}\t`), path, Buffer.of(0)])))
  const made = await borrowed.run(['update-index', '-z', '--add', '--index-info'], { input, env: { GIT_INDEX_FILE: index } })
  if (made.exitCode !== 0) return null
  return entries.length === 0 ? [] : await listChanged(borrowed, index)
}

/**
 * What a path of the change would be written over or through, or null: a link or a file where a folder must be, a folder
 * with anything else in it where a file must be. Git itself would take an ignored file away for it.
 */
function findObstacle(root: string, changes: readonly RawChange[]): BytePath | null {
  const removed = new Set(changes.filter(isRemoved).map(pathOf))
  for (const change of changes) {
    const path = pathOf(change)
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end)
      const found = lookAt(root, folder)
      if (found !== null && !found.isDirectory() && !removed.has(folder)) return folder
    }
    if (!isRemoved(change) && lookAt(root, path)?.isDirectory() && holdsOthers(root, path, removed)) return path
  }
  return null
}

function holdsOthers(root: string, folder: BytePath, removed: ReadonlySet<BytePath>): boolean {
  return readdirSync(bytesOf(root, folder), { withFileTypes: true, encoding: 'buffer' }).some(entry => {
    const path = `${folder}/${entry.name.toString('latin1')}`
    return entry.isDirectory() ? holdsOthers(root, path, removed) : !removed.has(path)
  })
}

function lookAt(root: string, path: BytePath): Stats | null {
  return lstatAt(bytesOf(root, path))
}

function bytesOf(root: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
}

function pathOf({ path }: RawChange): BytePath {
  return path.toString('latin1')
}

function isAdded({ oldMode }: RawChange): boolean {
  return oldMode === '000000'
}

function isRemoved({ newMode }: RawChange): boolean {
  return newMode === '000000'
}
