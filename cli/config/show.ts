import {
  describeProblems,
  type Environment,
  effectiveConfig,
  parseConfig,
  RepositoryConfig,
  type RepositoryRead,
  type Setting,
} from '../../config-schema/index.ts'
import { readCommitted } from '../../git/index.ts'
import { dataFolderOf } from '../data-folder.ts'
import { escapeText, toSafeJson } from '../escape.ts'
import { exitCodes } from '../exit.ts'
import { readOperator } from '../read-operator.ts'
import { readLocalRepository } from '../run/local-repository.ts'
import { operatorConfigFile, repositoryConfigPath } from './config-files.ts'
import { type ConfigRow, rowsOf } from './rows.ts'

type Options = { effective?: boolean; why?: boolean; repo?: string; data?: string; json?: boolean }

/** What a run would go by: the operator's file as it is now, and the repository's as it is committed. */
export async function showConfig(options: Options, environment: Environment): Promise<void> {
  const { operator } = readOperator(environment, dataFolderOf(environment, options.data))
  const repository = options.repo === undefined ? ({ kind: 'absent' } as const) : await readRepository(options.repo)
  const config = effectiveConfig(operator, repository)
  const rows = rowsOf(config).filter(({ setting }) => options.effective || setting.source !== 'default' || setting.notTaken)
  if (options.json) process.stdout.write(`${toSafeJson({ problem: config.problem, settings: Object.fromEntries(rows.map(toJson)) })}\n`)
  else process.stdout.write(`${textOf(rows, options, operatorConfigFile(environment, options.data))}\n`)
  if (config.problem === null) return
  process.stderr.write(`${escapeText(config.problem)}\n  the most restrictive defaults count until it is mended: grokbot config check\n`)
  process.exitCode = exitCodes.usage
}

async function readRepository(folder: string): Promise<RepositoryRead> {
  const { root, base } = await readLocalRepository(folder, null)
  const text = await readCommitted(root, base.sha, repositoryConfigPath)
  if (text === null) return { kind: 'absent' }
  const parsed = parseConfig(RepositoryConfig, text)
  if (parsed.kind === 'parsed') return { kind: 'read', config: parsed.value }
  return { kind: 'broken', problem: describeProblems(repositoryConfigPath, parsed.problems).join('; ') }
}

function toJson({ name, setting }: ConfigRow): [string, Setting<unknown>] {
  return [name, setting]
}

function textOf(rows: readonly ConfigRow[], { why }: Options, operatorFile: string): string {
  if (rows.length === 0)
    return `nothing is set: every default counts (see --effective); the operator's file would be ${escapeText(operatorFile)}`
  const names = Math.max(...rows.map(({ name }) => name.length))
  const values = Math.min(40, Math.max(...rows.map(({ name, setting }) => valueText(name, setting.value).length)))
  return rows
    .map(({ name, setting }) => {
      const value = valueText(name, setting.value)
      const note = setting.notTaken ? `, not ${valueText(name, setting.notTaken.value)}: ${setting.notTaken.why}` : ''
      return `${name.padEnd(names)}  ${why ? `${value.padEnd(values)}  ${setting.source}${note}` : value}`.trimEnd()
    })
    .join('\n')
}

function valueText(name: string, value: unknown): string {
  if (value === null) return name === 'ci' ? '(after-approval when a stranger was read, else always)' : '(as detected)'
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : escapeText(value.join('; '))
  return name === 'limits.costMicroUsdMax' && value === 0 ? '0 (no cap)' : escapeText(String(value))
}
