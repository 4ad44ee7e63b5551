import { execFileSync } from 'node:child_process'
import path from 'node:path'

/** Another number for every tree, so that every commit tries other places; `GROKBOT_ROTATION` repeats what another one tried. */
export function rotationOf(env: NodeJS.ProcessEnv = process.env): number {
  const given = env['GROKBOT_ROTATION']
  if (given !== undefined) return Number(given)
  const root = path.resolve(import.meta.dirname, '../..')
  try {
    const tree = execFileSync('git', ['-C', root, 'rev-parse', 'HEAD^{tree}'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return Number.parseInt(tree.slice(0, 6), 16) % rotationMax
  } catch {
    // A copy without its history still has tests.
    return 0
  }
}

const rotationMax = 1_000
