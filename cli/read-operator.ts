import { readFileSync } from 'node:fs'
import path from 'node:path'
import { defaultLimits, type Environment, type LimitValues, OperatorConfig, parseConfig } from '../config-schema/index.ts'
import type { Limits } from '../domain/index.ts'
import type { WorkerSettings } from '../worker/index.ts'
import { UsageError } from './exit.ts'
import { nodeRoots } from './node-roots.ts'

export function operatorFile(environment: Environment, dataDir: string): string {
  return environment.GROKBOT_CONFIG ?? path.join(dataDir, 'operator.yml')
}

/** The operator's settings as the file has them now. A broken file is an error that names line and column. */
export function readOperator(environment: Environment, dataDir: string): WorkerSettings {
  const file = operatorFile(environment, dataDir)
  const text = readIfThere(file)
  if (text === null) {
    if (environment.GROKBOT_CONFIG) throw new UsageError('operator-file-missing', `GROKBOT_CONFIG names ${file}, which is not there`)
    return { limits: defaultLimits(), operator: { version: 1 }, prefix: '/grok' }
  }
  const parsed = parseConfig(OperatorConfig, text)
  if (parsed.kind === 'invalid') {
    throw new UsageError(
      'operator-file-invalid',
      `${file} is not usable`,
      parsed.problems.map(({ line, column, path: key, message }) => `${file}:${line}:${column}: ${key} ${message}`),
    )
  }
  return { limits: { ...defaultLimits(), ...parsed.value.limits }, operator: parsed.value, prefix: '/grok' }
}

/** What a worker on this machine goes by: the operator's settings, and a Node that its commands can see. */
export function workerSettings(environment: Environment, dataDir: string): WorkerSettings {
  const settings = readOperator(environment, dataDir)
  const found = nodeRoots()
  if (found.length === 0) return settings
  const { sandbox } = settings.operator
  const roots = [...new Set([...(sandbox?.roots ?? []), ...found])]
  return { ...settings, operator: { ...settings.operator, sandbox: { ...sandbox, roots } } }
}

/** What one task may use, as it is recorded with the task. */
export function taskLimitsOf({ turnsMax, tokensMax, taskWallMs: wallMs, costMicroUsdMax }: LimitValues): Limits {
  return { turnsMax, wallMs, tokensMax, costMicroUsdMax: costMicroUsdMax || null }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}
