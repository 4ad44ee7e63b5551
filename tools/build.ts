import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildFolder } from './build/build-folder.ts'

/** `./dev build [--out FOLDER]`: the built form of the program, in dist/ by default. Nothing of node_modules is needed beside it. */
const root = path.resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { out: { type: 'string' } } })
const folder = path.resolve(process.env.GROKBOT_CALLER_DIR ?? root, values.out ?? path.join(root, 'dist'))
const startedAt = performance.now()
const { files, bytes, packages } = await buildFolder(root, folder)
process.stdout.write(
  `${folder}: ${files} files, ${(bytes / 1024 / 1024).toFixed(1)} MB, ${packages} packages, ${Math.round(performance.now() - startedAt)} ms\n`,
)
