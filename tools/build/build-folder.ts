import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { entryPlaces, sqliteAddonPlace } from '../../entries.ts'
import { packagesOf, renderNotices } from './notices.ts'

export type Built = { files: number; bytes: number; packages: number }

const places = entryPlaces()
const copied = ['credentialHelper', 'hostGitConfig', 'makeTree', 'restoreTree'] as const
const architectures = ['x64', 'arm64'] as const

/**
 * Makes a folder that runs by itself: the program and the session's thread in parts they share, of which a command loads only
 * what it needs; the two files that are shown to sandboxes; what is read by path, SQLite's addon, and the notices of the
 * packages inside. The folder is emptied first.
 */
export async function buildFolder(root: string, folder: string): Promise<Built> {
  emptyFolder(folder)
  const inputs = [await buildProgram(root, folder), await bundle(root, folder, 'fileHost'), await bundle(root, folder, 'relay')]
  copyAssets(root, folder)
  const packages = packagesOf(root, inputs)
  writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), renderNotices(packages))
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const bytes = files.reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0)
  return { files: files.length, bytes, packages: packages.length }
}

const part = /^[a-z-]+-[0-9A-Z]{8}\.mjs$/

/** Only what a build made is removed: a folder with anything else in it is somebody's own. */
function emptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const known = new Set(['native', 'THIRD-PARTY-NOTICES.txt', ...Object.values(places).map(({ built }) => built.split('/')[0])])
  const names = readdirSync(folder)
  const foreign = names.find(name => !known.has(name) && !part.test(name))
  if (foreign !== undefined) throw new Error(`${folder} is not a built folder: it holds ${foreign}`)
  for (const name of names) rmSync(path.join(folder, name), { recursive: true, force: true })
}

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  metafile: true,
  legalComments: 'none',
  // Names stay, so that a stack in a report says where something broke.
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
} as const

/** One file each: a sandbox is shown the folder it lies in. CommonJS starts quickest. */
async function bundle(root: string, folder: string, name: 'fileHost' | 'relay'): Promise<Metafile> {
  const { source, built } = places[name]
  const result = await build({ ...shared, format: 'cjs', absWorkingDir: root, entryPoints: [source], outfile: path.join(folder, built) })
  return result.metafile
}

/** What packages written for CommonJS expect around them. */
const commonJs = [
  "import{createRequire as $createRequire}from'node:module';",
  'const require=$createRequire(import.meta.url),__filename=import.meta.filename,__dirname=import.meta.dirname;',
].join('')

/** Every part lies at the top: `entries.ts` finds its folder by its own place, whichever part it is in. */
async function buildProgram(root: string, folder: string): Promise<Metafile> {
  const out = (name: 'main' | 'sessionThread') => path.basename(places[name].built, '.mjs')
  const result = await build({
    ...shared,
    format: 'esm',
    splitting: true,
    absWorkingDir: root,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'part-[hash]',
    banner: { js: commonJs },
    entryPoints: [
      { in: places.main.source, out: out('main') },
      { in: `${cached}${places.sessionThread.source}`, out: out('sessionThread') },
    ],
    plugins: [cachedEntry(root)],
  })
  chmodSync(path.join(folder, places.main.built), 0o755)
  return result.metafile
}

const cached = 'cached:'

/** An entry behind one that opens the cache of compiled code first, as `cli/main.ts` does: a thread's cache is its own. */
function cachedEntry(root: string): Plugin {
  const contents = (source: string) =>
    `import { keepCompiled } from './cli/keep-compiled.ts'\nkeepCompiled()\nvoid import(${JSON.stringify(`./${source}`)})\n`
  return {
    name: 'cached-entry',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${cached}`) }, ({ path: name }) => ({ path: name.slice(cached.length), namespace: 'cached' }))
      onLoad({ filter: /.*/, namespace: 'cached' }, ({ path: source }) => ({ contents: contents(source), resolveDir: root, loader: 'ts' }))
    },
  }
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
  const own = { name, version, description, license, type: 'module', engines, bin: { grokbot: `./${places.main.built}` } }
  writeFileSync(path.join(folder, places.package.built), `${JSON.stringify(own, null, 2)}\n`)
}
