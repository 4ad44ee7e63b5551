import { mkdirSync } from 'node:fs'
import { ulid } from 'ulid'
import type { Environment } from '../config-schema/index.ts'
import { holdOwnerLock, type Ledger, openSqliteLedger } from '../ledger/index.ts'
import type { Queue } from '../queue/index.ts'
import { type Logger, type Meters, silentMeters } from '../telemetry/index.ts'
import type { WorkerSettings } from '../worker/index.ts'
import { followOperator } from './follow-operator.ts'
import { readOrMakeKey } from './keys.ts'
import { countRings } from './metrics/count-work.ts'
import type { MetricName } from './metrics/metric-table.ts'

/** What every process of an installation stands on: its data folder, its ledger, its bell. */
export type Parts = {
  role: 'serve' | 'app' | 'worker'
  dataDir: string
  environment: Environment
  logger: Logger
  ledger: Ledger
  queue: Queue
  markerKey: Uint8Array
  /** Who this process is in the ledger; its kernel lock dies with it. */
  owner: string
  settings(): WorkerSettings
  meters: Meters<MetricName>
  close(): Promise<void>
}

/** `meters`: absent, nothing is measured. */
export type PlaceOptions = { dataDir: string; environment: Environment; logger: Logger; meters?: Meters<MetricName> }

/** The operator's settings, followed from now on. A broken file is an error before anything is opened that would keep the process alive. */
export function openSettings({ dataDir, environment, logger }: PlaceOptions): () => WorkerSettings {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  return followOperator(environment, dataDir, logger)
}

export function openParts(
  role: Parts['role'],
  { dataDir, environment, logger, meters = silentMeters }: PlaceOptions,
  settings: () => WorkerSettings,
  openQueue: () => Queue,
): Parts {
  const owner = `${role}-${ulid()}`
  const markerKey = readOrMakeKey(dataDir, 'marker.key')
  const ledger = openSqliteLedger({ dataDir, durability: 'durable', clock: Date.now })
  const lock = holdOwnerLock(dataDir, owner)
  const queue = countRings(openQueue(), meters)
  return {
    role,
    dataDir,
    environment,
    logger,
    ledger,
    queue,
    markerKey,
    owner,
    settings,
    meters,
    async close() {
      await queue.close()
      await ledger.close()
      lock.release()
    },
  }
}
