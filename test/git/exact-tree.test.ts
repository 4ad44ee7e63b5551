import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diffTrees, pathBytes, showPath } from '../../git/index.ts'
import { asAgent, makeFolder, makeRepository, openScene, plainGit, sh, takeTree, workspaceOf } from './scene.ts'

const megabyteLine = 'x'.repeat(1_000_000)

/** Files whose bytes, names or modes broke other bots, and what an agent does to each. */
const oddFiles: Parameters<typeof makeRepository>[1] = {
  'latin1.txt': Buffer.from('caf\xe9 na\xefve\nsecond\n', 'latin1'),
  'crlf.txt': 'one\r\ntwo\r\nthree\r\n',
  'mixed.txt': 'one\r\ntwo\nthree\rfour\n',
  'no-eol.txt': 'first\nlast without end',
  'nul.bin': Buffer.from([0, 1, 2, 0, 255, 254, 10, 13, 0]),
  'long-line.txt': `${megabyteLine}\n`,
  'a b.txt': 'renamed with a blank\n'.repeat(20),
  'tool.sh': '#!/bin/sh\necho tool\n',
  'made.sh': { exec: '#!/bin/sh\necho made\n' },
  link: { link: 'crlf.txt' },
  dangling: { link: '/nowhere/at/all' },
  '-x': 'a leading dash\n',
  '--end-of-options': 'an option\n',
  'new\nline': 'a newline in its name\n',
  'quo"te\'s \\ back\tslash': 'quotes\n',
  ':(glob)*.txt': 'pathspec magic\n',
  '*': 'a star\n',
  'folder/deep/er/file': 'deep\n',
  'empty.txt': '',
  'bom.txt': '\ufeffwith a byte order mark\n',
  'ünïcödé 😀.txt': 'unicode\n',
}
const invalidName = Buffer.from([0x62, 0x61, 0x64, 0xff, 0xfe, 0x2e, 0x74, 0x78, 0x74])

const changes = `
  printf 'caf\\xe9 na\\xefve\\nsecond \\xff\\n' > latin1.txt
  printf 'one\\r\\nTWO\\r\\nthree\\r\\n' > crlf.txt
  printf 'one\\r\\ntwo\\nthree\\rFOUR' > mixed.txt
  printf 'first\\nlast without end, longer' > no-eol.txt
  printf '\\x00\\x01\\x03\\x00\\xff\\xfe\\n\\r\\x00\\x00' > nul.bin
  printf 'y' | dd of=long-line.txt bs=1 seek=500000 conv=notrunc status=none
  mv 'a b.txt' 'c d  e.txt'
  chmod +x tool.sh; chmod -x made.sh
  ln -sfn no-eol.txt link; rm dangling; echo now a file > dangling
  echo changed > ./-x; echo changed > ./--end-of-options
  echo changed > $'new\\nline'; echo changed > $'quo"te\\'s \\\\ back\\tslash'
  echo changed > ':(glob)*.txt'; echo changed > '*'
  rm -r folder; echo a file where a folder was > folder
  rm empty.txt; mkdir empty.txt; echo in a folder > empty.txt/in
  printf '\\xef\\xbb\\xbfchanged\\n' > bom.txt
  echo changed > 'ünïcödé 😀.txt'
  echo changed > $'bad\\xff\\xfe.txt'
  printf 'new \\x00 binary' > $'new\\xc3\\x28\\ttab'
  ln -s '../outside' $'new\\nlink'
  : > new-empty; printf no-end > ./-n
  mkdir -p 'dir with blank/\\x41'; echo literal > 'dir with blank/\\x41/\\xff'
`

test('bytes, names, modes and types of any kind come out exactly, and the patch gives the same tree on a clean clone', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder, oddFiles)
  writeFileSync(Buffer.concat([Buffer.from(`${project}/`), invalidName]), 'a name that is no UTF-8\n')
  plainGit(project, 'add', '-A')
  plainGit(project, 'commit', '-q', '-m', 'odd name')
  const scene = await openScene(folder, project)
  const workspace = await workspaceOf(scene)
  asAgent(scene, workspace, changes)
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(`${adopted.path}: ${adopted.reason}`)

  // A person does the same in a clone of their own: git itself says what the tree is.
  const person = join(folder, 'person')
  plainGit(folder, 'clone', '-q', project, person)
  sh(person, changes)
  plainGit(person, 'add', '-A')
  expect(adopted.tree).toBe(plainGit(person, 'write-tree'))

  const diff = await diffTrees(scene.store, scene.baseTree, adopted.tree)
  const clone = join(folder, 'clone')
  plainGit(folder, 'clone', '-q', project, clone)
  writeFileSync(join(folder, 'change.patch'), diff.patch as Uint8Array)
  plainGit(clone, 'apply', '--index', join(folder, 'change.patch'))
  expect(plainGit(clone, 'write-tree')).toBe(adopted.tree)
  const rows = diff.files.map(({ status, mode, added, removed, from, path, notes }) =>
    [status, mode, `+${added} -${removed}`, from === null ? path : `${from} → ${path}`, ...notes].join(' | '),
  )
  expect(rows).toMatchInlineSnapshot(`
    [
      "modified | 100644 | +1 -1 | *",
      "modified | 100644 | +1 -1 | --end-of-options",
      "added | 100644 | +1 -0 | -n",
      "modified | 100644 | +1 -1 | -x",
      "modified | 100644 | +1 -1 | :(glob)*.txt",
      "modified | 100644 | +1 -1 | bad\\xff\\xfe.txt",
      "modified | 100644 | +1 -1 | bom.txt",
      "renamed | 100644 | +0 -0 | a b.txt → c d  e.txt",
      "modified | 100644 | +1 -1 | crlf.txt",
      "type-changed | 100644 | +1 -1 | dangling | mode 120000 → 100644",
      "added | 100644 | +1 -0 | dir with blank/\\x5cx41/\\x5cxff",
      "added | 100644 | +1 -0 | empty.txt/in",
      "added | 100644 | +1 -0 | folder",
      "deleted | 100644 | +0 -1 | folder/deep/er/file",
      "modified | 100644 | +1 -1 | latin1.txt",
      "modified | 120000 | +1 -1 | link",
      "modified | 100644 | +1 -1 | long-line.txt",
      "modified | 100644 | +0 -0 | made.sh | mode 100755 → 100644",
      "modified | 100644 | +1 -1 | mixed.txt",
      "modified | 100644 | +1 -1 | new
    line",
      "added | 120000 | +1 -0 | new
    link",
      "renamed | 100644 | +0 -0 | empty.txt → new-empty",
      "added | 100644 | +null -null | new\\xc3(	tab",
      "modified | 100644 | +1 -1 | no-eol.txt",
      "modified | 100644 | +null -null | nul.bin",
      "modified | 100644 | +1 -1 | quo"te's \\ back	slash",
      "modified | 100755 | +0 -0 | tool.sh | mode 100644 → 100755",
      "modified | 100644 | +1 -1 | ünïcödé 😀.txt",
    ]
  `)
})

test('names that are no UTF-8 are shown and read back to the same bytes', () => {
  const names = [
    [Buffer.from('plain.txt'), 'plain.txt'],
    [Buffer.from('caf\xe9.txt', 'latin1'), 'caf\\xe9.txt'],
    [Buffer.from('é😀\n"'), 'é😀\n"'],
    [Buffer.from([0xf0, 0x9f, 0x98]), '\\xf0\\x9f\\x98'],
    [Buffer.from('literal \\xff'), 'literal \\x5cxff'],
    [Buffer.from('\\x5cxff'), '\\x5cx5cxff'],
    [Buffer.from('a\\xyz \\'), 'a\\xyz \\'],
    [Buffer.from([0xed, 0xa0, 0x80, 0x41]), '\\xed\\xa0\\x80A'],
    [Buffer.from([0xef, 0xbb, 0xbf, 0x41]), '\ufeffA'],
  ] as const
  for (const [bytes, shown] of names) {
    expect(showPath(bytes)).toBe(shown)
    expect(pathBytes(shown)).toEqual(bytes)
  }
})

test('any two bytes survive being shown', () => {
  const pairs = Array.from({ length: 65_536 }, (_, pair) => Buffer.from([0x5c, 0x78, pair >> 8, pair & 255, 0x61]))
  expect(pairs.filter(bytes => !pathBytes(showPath(bytes)).equals(bytes))).toEqual([])
})

test('line ends and encodings that the repository’s own attributes ask for are converted both ways', async () => {
  const folder = makeFolder()
  const project = makeRepository(folder, {
    '.gitattributes': '*.bat text eol=crlf\n*.txt text=auto\nutf16.txt text working-tree-encoding=UTF-16LE\nid.c ident\n',
    'run.bat': 'echo one\r\necho two\r\n',
    'utf16.txt': Buffer.from('hello\n', 'utf16le'),
    'id.c': '/* $Id$ */\n',
    'same.txt': 'same\n',
  })
  const scene = await openScene(folder, project)
  const workspace = await workspaceOf(scene)
  const seen = asAgent(scene, workspace, 'od -An -c run.bat | head -1; od -An -tx1 utf16.txt; cat id.c')
  expect(seen).toContain('\\r')
  expect(seen).toMatch(/68 00 65 00/)
  expect(seen).toMatch(/\$Id: [0-9a-f]{40} \$/)
  expect(await takeTree(scene, workspace)).toMatchObject({ kind: 'adopted', tree: scene.baseTree })

  asAgent(scene, workspace, "printf 'echo one\\r\\necho 2\\r\\n' > run.bat; touch id.c utf16.txt same.txt")
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  const { files, patch } = await diffTrees(scene.store, scene.baseTree, adopted.tree)
  expect(files).toEqual([{ path: 'run.bat', status: 'modified', from: null, mode: '100644', added: 1, removed: 1, notes: [] }])
  const clone = join(folder, 'clone')
  plainGit(folder, 'clone', '-q', project, clone)
  writeFileSync(join(folder, 'change.patch'), patch as Uint8Array)
  plainGit(clone, 'apply', '--index', join(folder, 'change.patch'))
  expect(plainGit(clone, 'write-tree')).toBe(adopted.tree)
})

test('a hundred random changes give the tree that git add -A gives', async () => {
  const folder = makeFolder()
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index % 7}/e${index % 3}/f${index}`, `file ${index}\n`]))
  const project = makeRepository(folder, files)
  const scene = await openScene(folder, project)
  let seed = 20261130
  const random = (max: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % max
  }
  for (let round = 0; round < 5; round++) {
    const script = Array.from({ length: 20 }, () => randomChange(random)).join('\n')
    const workspace = await workspaceOf(scene)
    asAgent(scene, workspace, script)
    const adopted = await takeTree(scene, workspace)
    const person = join(folder, `person-${round}`)
    plainGit(folder, 'clone', '-q', project, person)
    sh(person, script)
    plainGit(person, 'add', '-A')
    expect(adopted, script).toMatchObject({ kind: 'adopted', tree: plainGit(person, 'write-tree') })
    await workspace.remove()
    rmSync(person, { recursive: true })
  }
})

function randomChange(random: (max: number) => number): string {
  const file = `d${random(7)}/e${random(3)}/f${random(60)}`
  const folder = `d${random(7)}`
  const other = `d${random(7)}/new${random(9)}`
  const kinds = [
    `mkdir -p "$(dirname ${file})" 2>/dev/null && [ ! -d ${file} ] && echo ${random(1000)} > ${file} || true`,
    `rm -rf ${file}`,
    `rm -rf ${folder}`,
    `rm -rf ${folder}; echo file > ${folder}`,
    `rm -rf ${folder}; ln -s d${random(7)} ${folder}`,
    `rm -rf ${file}; mkdir -p ${file} 2>/dev/null && echo in > ${file}/in || true`,
    `mv -T ${file} ${other} 2>/dev/null || true`,
    `mv -T ${folder} moved${random(5)} 2>/dev/null || true`,
    `chmod +x ${file} 2>/dev/null || true`,
    `ln -sfn ${random(10)} ${other} 2>/dev/null || true`,
  ]
  return kinds[random(kinds.length)] as string
}

test('an empty folder, an ignored file and a file that is only touched are no change', async () => {
  const folder = makeFolder()
  const scene = await openScene(folder, makeRepository(folder))
  const workspace = await workspaceOf(scene)
  asAgent(
    scene,
    workspace,
    'mkdir -p empty/er node_modules/x; echo x > node_modules/x/i; echo x > a.log; touch README.md; chmod 600 README.md',
  )
  expect(await takeTree(scene, workspace)).toEqual({
    kind: 'adopted',
    tree: scene.baseTree,
    untracked: [],
    gitlinksLeftOut: [],
    specialsLeftOut: [],
  })
})
