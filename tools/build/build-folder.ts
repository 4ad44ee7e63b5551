import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Metafile } from 'esbuild'
import { type EntryName, entryPlaces, sqliteAddonPlace } from '../../entries.ts'
import { packagesOf, renderNotices } from './notices.ts'

export type Built = { files: number; bytes: number; packages: number }

const places = entryPlaces()
const copied = ['credentialHelper', 'hostGitConfig', 'makeTree', 'restoreTree'] as const
const architectures = ['x64', 'arm64'] as const

/**
 * Makes a folder that runs by itself: four bundles, the files that are read by path, SQLite's addon, and the notices of the
 * packages inside. CommonJS, because that starts quicker than a graph of modules. The folder is emptied first.
 */
export async function buildFolder(root: string, folder: string): Promise<Built> {
  emptyFolder(folder)
  const inputs = [
    ...(await Promise.all(pairs.map(pair => bundlePair(root, folder, pair)))),
    await bundle(root, folder, 'fileHost'),
    await bundle(root, folder, 'relay'),
  ]
  copyAssets(root, folder)
  const packages = packagesOf(root, inputs)
  writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), renderNotices(packages))
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const bytes = files.reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0)
  return { files: files.length, bytes, packages: packages.length }
}

/** Only what a build made is removed: a folder with anything else in it is somebody's own. */
function emptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const known = new Set([
    ...pairs.map(({ body }) => body),
    'native',
    'THIRD-PARTY-NOTICES.txt',
    ...Object.values(places).map(({ built }) => built.split('/')[0]),
  ])
  const foreign = readdirSync(folder).find(name => !known.has(name))
  if (foreign !== undefined) throw new Error(`${folder} is not a built folder: it holds ${foreign}`)
  for (const name of known) if (name !== undefined) rmSync(path.join(folder, name), { recursive: true, force: true })
}

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  metafile: true,
  legalComments: 'none',
  // Names stay, so that a stack in a report says where something broke.
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
  // A bundle knows its own place by these; `entries.ts` asks nothing else.
  define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
} as const

async function bundle(root: string, folder: string, name: EntryName): Promise<Metafile> {
  const { source, built } = places[name]
  const result = await build({ ...shared, absWorkingDir: root, entryPoints: [source], outfile: path.join(folder, built) })
  return result.metafile
}

type Pair = { entry: 'main' | 'sessionThread'; source: string; body: string; call: string; banner: string }

/** A thread's cache of compiled code is its own: both open it in a small first file, so that the second comes out of it. */
const pairs: readonly Pair[] = [
  { entry: 'main', source: 'cli/program.ts', body: 'program.cjs', call: '.main()', banner: '#!/usr/bin/env node' },
  { entry: 'sessionThread', source: places.sessionThread.source, body: 'session.cjs', call: '', banner: '' },
]

async function bundlePair(root: string, folder: string, { entry, source, body, call, banner }: Pair): Promise<Metafile> {
  const first = path.join(folder, places[entry].built)
  await build({
    ...shared,
    absWorkingDir: root,
    stdin: {
      contents: `import { keepCompiled } from './cli/keep-compiled.ts'\nkeepCompiled()\nrequire('./${body}')${call}\n`,
      resolveDir: root,
      loader: 'ts',
    },
    external: [`./${body}`],
    banner: { js: banner },
    outfile: first,
  })
  if (entry === 'main') chmodSync(first, 0o755)
  const second = await build({ ...shared, absWorkingDir: root, entryPoints: [source], outfile: path.join(folder, body) })
  return second.metafile
}

function copyAssets(root: string, folder: string): void {
  for (const name of copied) {
    const { source, built } = places[name]
    mkdirSync(path.dirname(path.join(folder, built)), { recursive: true })
    cpSync(path.join(root, source), path.join(folder, built))
  }
  cpSync(path.join(root, places.prompts.source), path.join(folder, places.prompts.built), {
    recursive: true,
    filter: source => !source.endsWith('.ts'),
  })
  for (const architecture of architectures) {
    const target = path.join(folder, sqliteAddonPlace(architecture))
    mkdirSync(path.dirname(target), { recursive: true })
    cpSync(path.join(root, `node_modules/better-sqlite3/prebuilds/linux-${architecture}.node`), target)
  }
  const { name, version, description, license, engines } = JSON.parse(readFileSync(path.join(root, places.package.source), 'utf8'))
  const own = { name, version, description, license, type: 'commonjs', engines, bin: { grokbot: `./${places.main.built}` } }
  writeFileSync(path.join(folder, places.package.built), `${JSON.stringify(own, null, 2)}\n`)
}
