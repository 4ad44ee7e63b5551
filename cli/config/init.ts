import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Environment } from '../../config-schema/index.ts'
import { type Detected, detectCommands } from '../../domain/index.ts'
import { dataFolderOf, makeDataFolder } from '../data-folder.ts'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'
import { operatorConfigFile, repositoryConfigPath } from './config-files.ts'

type Options = { repo: string; operator?: boolean; data?: string }

/** A first file to change by hand. Never written over one that is there. */
export async function initConfig(options: Options, environment: Environment): Promise<void> {
  const file = options.operator ? operatorConfigFile(environment, options.data) : path.join(options.repo, repositoryConfigPath)
  if (options.operator) makeDataFolder(dataFolderOf(environment, options.data))
  else if (!statSync(options.repo, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError('folder-missing', `there is no folder ${escapeText(options.repo)}`)
  const text = options.operator ? operatorText : repositoryText(detectIn(options.repo))
  try {
    makeFolder(path.dirname(file))
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new UsageError('file-exists', `${escapeText(file)} is there already`)
    throw new UsageError('file-unwritable', `${escapeText(file)} can not be written: ${code}`)
  }
  process.stdout.write(`wrote ${escapeText(file)}\n`)
}

/** A file in its place is no configuration that is there already. */
function makeFolder(folder: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) mkdirSync(folder, { recursive: true })
  else if (!stat.isDirectory()) throw Object.assign(new Error(`${folder} is no folder`), { code: 'ENOTDIR' })
}

const fileBytesMax = 262_144

function detectIn(folder: string): Detected | null {
  const names = new Set(readdirSync(folder))
  const read = (name: string) => {
    const stat = statSync(path.join(folder, name), { throwIfNoEntry: false })
    return stat?.isFile() && stat.size <= fileBytesMax ? readFileSync(path.join(folder, name), 'utf8') : null
  }
  return detectCommands({ names, read })
}

function repositoryText(detected: Detected | null): string {
  const found = detected ? 'Detected in this repository:' : 'Nothing could be detected; fill in:'
  const { setup, checks } = detected ?? { setup: [], checks: [] }
  return [
    '# What grokbot does in this repository. Check it with: grokbot config check',
    'version: 1',
    '',
    `# ${found} commands that prepare a checkout, and commands that must pass.`,
    ...yamlList('setup', setup),
    ...yamlList('checks', checks),
    '',
    '# Paths that a change may never touch, besides those that are always protected:',
    '# protected:',
    '#   - migrations/**',
    '# Lower limits than the operator allows:',
    '# limits:',
    '#   turnsMax: 30',
    '',
  ].join('\n')
}

/** A JSON string is a YAML string. */
function yamlList(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [`${name}: []`] : [`${name}:`, ...values.map(value => `  - ${JSON.stringify(value)}`)]
}

const operatorText = [
  "# The operator's settings of this machine; re-read for each task. Check it with: grokbot config check --operator FILE",
  'version: 1',
  '',
  '# limits:',
  '#   taskWallMs: 1200000',
  '#   costMicroUsdMax: 2000000',
  '# sandbox:',
  '#   policy: required',
  '#   roots: [/opt/toolchain]',
  '# models:',
  '#   grok-4: { price: { input: 3000000, output: 15000000 } }',
  '',
].join('\n')
