import { handOver } from '../../agent/index.ts'
import type { Environment, ModelEndpoint } from '../../config-schema/index.ts'
import { foldTask } from '../../domain/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import {
  bundlePath,
  executeTask,
  hasUnkeptWork,
  patchPath,
  Stopped,
  taskFolder,
  type WorkerSettings,
  watchClaim,
} from '../../worker/index.ts'
import { UsageError } from '../exit.ts'
import { claimAgain, openRunKeys, openRunPlace, type RunKeys, type RunPlace, runPorts } from './open-run.ts'
import { writeOutFiles } from './out-folder.ts'

type Opened = { ledger: Ledger; dataDir: string; settings: WorkerSettings; environment: Environment }

/** `late`: the time was over first, and the task is as it was: another try keeps its work. */
export type KeptStopped = { kind: 'kept'; patch: string | null } | { kind: 'nothing' } | { kind: 'late' }

/**
 * Ends a cancelled run whose process is dead and whose work is in no patch yet, and keeps that work. `nothing`: there is no
 * such work, it is not a run's, or somebody works on it. No model is asked and no command of the task is run.
 */
export async function keepStopped(
  taskId: string,
  { ledger, dataDir, settings, environment }: Opened,
  timeUp: AbortSignal,
): Promise<KeptStopped> {
  const state = foldTask(await ledger.readEvents(taskId))
  const { accepted, outcome, session } = state
  const taskDir = taskFolder(dataDir, taskId)
  if (accepted?.delivery !== 'patch' || outcome || !hasUnkeptWork(state, taskDir)) return { kind: 'nothing' }
  if (timeUp.aborted) return { kind: 'late' }
  const keys = keysOrNull(dataDir, environment, settings)
  if (keys === null) return { kind: 'nothing' }
  const place = openRunPlace(dataDir, keys)
  try {
    const model = { ...noModel, model: session?.started?.model ?? '' }
    const walked = await execute(taskId, { place, settings, environment, model, timeUp })
    if (walked === 'late') return { kind: 'late' }
    if (walked === 'held') return { kind: 'nothing' }
    const { patch } = writeOutFiles(accepted.repository.url, taskId, { patch: patchPath(taskDir), bundle: bundlePath(taskDir) })
    return { kind: 'kept', patch }
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

type Execution = Pick<Opened, 'settings' | 'environment'> & { place: RunPlace; model: ModelEndpoint; timeUp: AbortSignal }

/** `held`: it has ended, or a living process holds it. */
async function execute(taskId: string, given: Execution): Promise<'ended' | 'held' | 'late'> {
  const { place, settings, environment, model, timeUp } = given
  const claim = await claimAgain(place, taskId, settings).catch((error: unknown) => {
    if (error instanceof UsageError) return 'held' as const
    throw error
  })
  if (typeof claim === 'string') return 'held'
  const ports = runPorts(place, { environment, model, logger: silentLogger, sessionPlace: 'here', progress: () => undefined })
  const cancel = new AbortController()
  const giveBack = () => cancel.abort(handOver)
  timeUp.addEventListener('abort', giveBack, { once: true })
  const stopWatching = watchClaim(claim, cancel, ports)
  try {
    await executeTask(claim, cancel.signal, ports)
    return 'ended'
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    await place.ledger.releaseTask(claim)
    return 'late'
  } finally {
    stopWatching()
    timeUp.removeEventListener('abort', giveBack)
  }
}

/** A cancelled task asks none; nothing listens there. */
const noModel = { baseUrl: 'http://127.0.0.1:9/v1', apiKey: '' }
