import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Environment } from '../../config-schema/index.ts'
import { dataFolderOf } from '../data-folder.ts'
import { escapeText } from '../escape.ts'
import { UsageError } from '../exit.ts'

export const repositoryConfigPath = '.github/grok.yml'

/** Larger ones are refused by the reader too; this keeps a wrong path from being read whole. */
const fileBytesMax = 1_048_576

export function operatorConfigFile(environment: Environment, data: string | undefined): string {
  return environment.GROKBOT_CONFIG ?? path.join(dataFolderOf(environment, data), 'operator.yml')
}

/** Null when there is none. Throws `UsageError` for what can not be read as a file. */
export function readConfigFile(file: string): string | null {
  const stat = statOf(file)
  if (stat === null) return null
  const shown = escapeText(file)
  if (!stat.isFile()) throw new UsageError('file-missing', `${shown} is not a file`)
  if (stat.size > fileBytesMax) throw new UsageError('file-too-large', `${shown} is larger than ${fileBytesMax} bytes`)
  return readFileSync(file, 'utf8')
}

function statOf(file: string) {
  try {
    return statSync(file, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    throw new UsageError('file-unreadable', `${escapeText(file)} can not be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
