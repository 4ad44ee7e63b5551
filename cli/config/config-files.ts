import { statSync } from 'node:fs'
import path from 'node:path'
import type { Environment } from '../../config-schema/index.ts'
import { dataFolderOf } from '../data-folder.ts'
import { notRead, readNamed } from '../read-named.ts'

export const repositoryConfigPath = '.github/grok.yml'

/** Larger ones are refused by the reader too; this keeps a wrong path from being read whole. */
const fileBytesMax = 1_048_576

export function operatorConfigFile(environment: Environment, data: string | undefined): string {
  return environment.GROKBOT_CONFIG ?? path.join(dataFolderOf(environment, data), 'operator.yml')
}

/** Null when there is none. Throws `UsageError` for what can not be read as a file. */
export function readConfigFile(file: string): string | null {
  return isThere(file) ? readNamed(file, { bytesMax: fileBytesMax }).toString('utf8') : null
}

function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    throw notRead(error, file)
  }
}
