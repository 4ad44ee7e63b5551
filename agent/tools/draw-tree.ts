/** Files of a folder as an indented tree that fits a budget: the top always, then breadth first while there is room. */
type Folder = { name: string; folders: Map<string, Folder>; files: string[]; open: boolean; count: number; extensions: Map<string, number> }

const extensionsNamed = 3
const indentWidth = 2

export function drawTree(paths: readonly string[], others: readonly string[], charsMax: number): string {
  const root = folderOf('')
  for (const path of paths) insert(root, path.split('/'))
  root.files.push(...others)
  root.open = true
  let chars = cost(root, 1)
  // One level after the other; a folder is opened only if all its entries fit, so that no listing of it is half.
  let level: { folder: Folder; depth: number }[] = children(root, 1)
  while (level.length > 0) {
    const next: typeof level = []
    for (const { folder, depth } of level) {
      const more = cost(folder, depth + 1)
      if (chars + more > charsMax) continue
      chars += more
      folder.open = true
      next.push(...children(folder, depth + 1))
    }
    level = next
  }
  return cutAt(draw(root, 1), charsMax)
}

function folderOf(name: string): Folder {
  return { name, folders: new Map(), files: [], open: false, count: 0, extensions: new Map() }
}

function insert(root: Folder, parts: readonly string[]): void {
  const file = parts.at(-1) as string
  const dot = file.lastIndexOf('.')
  const extension = dot > 0 ? `*${file.slice(dot)}` : file
  let folder = root
  count(folder, extension)
  for (const part of parts.slice(0, -1)) {
    const known = folder.folders.get(part) ?? folderOf(part)
    folder.folders.set(part, known)
    folder = known
    count(folder, extension)
  }
  folder.files.push(file)
}

function count(folder: Folder, extension: string): void {
  folder.count++
  folder.extensions.set(extension, (folder.extensions.get(extension) ?? 0) + 1)
}

function children(folder: Folder, depth: number): { folder: Folder; depth: number }[] {
  return sortedFolders(folder).map(child => ({ folder: child, depth }))
}

function cost(folder: Folder, depth: number): number {
  const indent = depth * indentWidth + '- /\n'.length
  return (
    folder.files.reduce((sum, name) => sum + name.length + indent, 0) +
    [...folder.folders.values()].reduce((sum, child) => sum + child.name.length + summary(child).length + indent, 0)
  )
}

function draw(folder: Folder, depth: number): string[] {
  const indent = ' '.repeat(depth * indentWidth)
  const lines: string[] = []
  for (const child of sortedFolders(folder)) {
    lines.push(`${indent}- ${child.name}/${child.open ? '' : summary(child)}`)
    if (child.open) lines.push(...draw(child, depth + 1))
  }
  for (const name of [...folder.files].sort(byName)) lines.push(`${indent}- ${name}`)
  return lines
}

function summary(folder: Folder): string {
  const top = [...folder.extensions].sort((left, right) => right[1] - left[1] || byName(left[0], right[0])).slice(0, extensionsNamed)
  const more = folder.extensions.size > extensionsNamed ? ', …' : ''
  return ` [${folder.count} files in subtree: ${top.map(([extension, number]) => `${number} ${extension}`).join(', ')}${more}]`
}

function sortedFolders(folder: Folder): Folder[] {
  return [...folder.folders.values()].sort((left, right) => byName(left.name, right.name))
}

/** Without regard to case, and the same on every machine. */
function byName(left: string, right: string): number {
  const [first, second] = [left.toLowerCase(), right.toLowerCase()]
  if (first !== second) return first < second ? -1 : 1
  return left < right ? -1 : left > right ? 1 : 0
}

function cutAt(lines: readonly string[], charsMax: number): string {
  let chars = 0
  const kept = lines.findIndex(line => {
    chars += line.length + 1
    return chars > charsMax
  })
  return kept < 0
    ? lines.join('\n')
    : [...lines.slice(0, kept), `[${lines.length - kept} more entries are not shown: list a folder further down]`].join('\n')
}
