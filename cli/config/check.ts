import path from 'node:path'
import {
  type ConfigProblem,
  describeProblems,
  type Environment,
  effectiveConfig,
  OperatorConfig,
  parseConfig,
  RepositoryConfig,
} from '../../config-schema/index.ts'
import { escapeText, toSafeJson } from '../escape.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { operatorConfigFile, readConfigFile, repositoryConfigPath } from './config-files.ts'
import { rowsOf } from './rows.ts'

type Options = { operator?: boolean; repo?: string; data?: string; json?: boolean }
type Kind = 'operator' | 'repository'
type Checked = { file: string; kind: Kind; state: 'ok' | 'broken' | 'absent'; problems: ConfigProblem[]; notes: string[] }

/** Says of each file whether it counts as it is written. Ends with 2 when one does not. */
export async function checkConfig(file: string | undefined, options: Options, environment: Environment): Promise<void> {
  if (file !== undefined && options.repo !== undefined) throw new UsageError('options-clash', 'name a file or --repo, not both')
  const operatorFile = operatorConfigFile(environment, options.data)
  const operator = check(operatorFile, 'operator')
  const checked =
    file !== undefined ? [named(file, options)] : options.repo !== undefined ? [inRepository(options.repo)] : [operator, inRepository('.')]
  for (const each of checked) if (each.kind === 'repository' && each.state === 'ok') each.notes.push(...notTaken(each.file, operatorFile))
  if (options.json) process.stdout.write(`${toSafeJson(checked)}\n`)
  else process.stdout.write(`${checked.flatMap(textOf).join('\n')}\n`)
  if (checked.some(({ state }) => state === 'broken')) process.exitCode = exitCodes.usage
}

function named(file: string, { operator }: Options): Checked {
  const checked = check(file, operator ? 'operator' : 'repository')
  if (checked.state === 'absent') throw new UsageError('file-missing', `there is no file ${escapeText(file)}`)
  return checked
}

function inRepository(folder: string): Checked {
  return check(path.join(folder, repositoryConfigPath), 'repository')
}

function check(file: string, kind: Kind): Checked {
  const text = readConfigFile(file)
  if (text === null) return { file, kind, state: 'absent', problems: [], notes: [] }
  const parsed = kind === 'operator' ? parseConfig(OperatorConfig, text) : parseConfig(RepositoryConfig, text)
  if (parsed.kind === 'invalid') return { file, kind, state: 'broken', problems: parsed.problems, notes: [] }
  return { file, kind, state: 'ok', problems: [], notes: [] }
}

/** What a repository asks for and does not get from this operator. */
function notTaken(file: string, operatorFile: string): string[] {
  const operator = parseConfig(OperatorConfig, readConfigFile(operatorFile) ?? 'version: 1')
  const repository = parseConfig(RepositoryConfig, readConfigFile(file) ?? '')
  if (operator.kind === 'invalid' || repository.kind === 'invalid') return []
  const rows = rowsOf(effectiveConfig(operator.value, { kind: 'read', config: repository.value }))
  return rows.flatMap(({ name, setting }) =>
    setting.notTaken ? [`${name}: ${String(setting.notTaken.value)} has no effect, ${setting.notTaken.why}`] : [],
  )
}

function textOf({ file, kind, state, problems, notes }: Checked): string[] {
  const shown = escapeText(file)
  if (state === 'absent') return [`${shown}: absent, so the defaults count`]
  if (state === 'ok') return [`${shown}: ok`, ...notes.map(note => `  ${escapeText(note)}`)]
  const counts =
    kind === 'repository' ? 'as long as it is broken, nothing is set up, checked or proven' : 'as long as it is broken, nothing starts'
  return [...describeProblems(file, problems).map(escapeText), `  ${counts}`]
}
