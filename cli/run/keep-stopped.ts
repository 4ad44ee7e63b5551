import type { Environment, ModelEndpoint } from '../../config-schema/index.ts'
import { foldTask } from '../../domain/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { bundlePath, executeTask, hasUnkeptWork, patchPath, taskFolder, type WorkerSettings, watchClaim } from '../../worker/index.ts'
import { UsageError } from '../exit.ts'
import { claimAgain, openRunKeys, openRunPlace, type RunKeys, type RunPlace, runPorts } from './open-run.ts'
import { writeOutFiles } from './out-folder.ts'

type Opened = { ledger: Ledger; dataDir: string; settings: WorkerSettings; environment: Environment }

/**
 * Ends a cancelled run whose process is dead and whose work is in no patch yet, and keeps that work. Null: there is no such
 * work, it is not a run's, or somebody works on it. No model is asked and no command of the task is run.
 */
export async function keepStopped(taskId: string, { ledger, dataDir, settings, environment }: Opened): Promise<string | null> {
  const state = foldTask(await ledger.readEvents(taskId))
  const { accepted, outcome, session } = state
  const taskDir = taskFolder(dataDir, taskId)
  if (accepted?.delivery !== 'patch' || outcome || !hasUnkeptWork(state, taskDir)) return null
  const keys = keysOrNull(dataDir, environment, settings)
  if (keys === null) return null
  const place = openRunPlace(dataDir, keys)
  try {
    const model = { ...noModel, model: session?.started?.model ?? '' }
    if (!(await execute(taskId, { place, settings, environment, model }))) return null
    return writeOutFiles(accepted.repository.url, taskId, { patch: patchPath(taskDir), bundle: bundlePath(taskDir) }).patch
  } finally {
    await place.close()
  }
}

/** Keys that can not be used must not keep a task from being stopped. */
function keysOrNull(...given: Parameters<typeof openRunKeys>): RunKeys | null {
  try {
    return openRunKeys(...given)
  } catch (error) {
    if (error instanceof UsageError) return null
    throw error
  }
}

type Execution = Pick<Opened, 'settings' | 'environment'> & { place: RunPlace; model: ModelEndpoint }

/** False: it has ended, or a living process holds it. */
async function execute(taskId: string, { place, settings, environment, model }: Execution): Promise<boolean> {
  const claim = await claimAgain(place, taskId, settings).catch((error: unknown) => {
    if (error instanceof UsageError) return 'held' as const
    throw error
  })
  if (typeof claim === 'string') return false
  const ports = runPorts(place, { environment, model, logger: silentLogger, sessionPlace: 'here', progress: () => undefined })
  const cancel = new AbortController()
  const stopWatching = watchClaim(claim, cancel, ports)
  try {
    await executeTask(claim, cancel.signal, ports)
    return true
  } finally {
    stopWatching()
  }
}

/** A cancelled task asks none; nothing listens there. */
const noModel = { baseUrl: 'http://127.0.0.1:9/v1', apiKey: '' }
