import { statSync } from 'node:fs'
import type { Environment } from '../config-schema/index.ts'
import type { Logger } from '../telemetry/index.ts'
import type { WorkerSettings } from '../worker/index.ts'
import { UsageError } from './exit.ts'
import { operatorFile, workerSettings } from './read-operator.ts'

/**
 * The operator's settings of a process that runs on: read again when the file changes. A file that is broken while the
 * process runs is logged once and the last good one stays in force; only at the start is it an error.
 */
export function followOperator(environment: Environment, dataDir: string, logger: Logger): () => WorkerSettings {
  let seen = versionOf(operatorFile(environment, dataDir))
  let good = workerSettings(environment, dataDir)
  return () => {
    const now = versionOf(operatorFile(environment, dataDir))
    if (now === seen) return good
    seen = now
    try {
      good = workerSettings(environment, dataDir)
      logger.info({}, 'operator settings were read again')
    } catch (error) {
      const hints = error instanceof UsageError ? error.hints.join('; ') : ''
      logger.error({ error, hints }, 'operator settings are broken; the last good ones stay in force')
    }
    return good
  }
}

/** Changes whenever the file does; '' while there is none. */
function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.mtimeNs}:${stat.size}:${stat.ino}` : ''
}
