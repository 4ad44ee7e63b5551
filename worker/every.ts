import { workerLimits } from './limits.ts'
import type { WorkerPorts } from './ports.ts'

/** Runs `work` again and again, never twice at once; a failure is logged and tried again at the next turn. */
export function every(
  ports: Pick<WorkerPorts, 'settings' | 'logger'>,
  gapOf: (limits: Awaited<ReturnType<WorkerPorts['settings']>>['limits']) => number,
  work: () => Promise<void>,
): () => void {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const turn = async () => {
    try {
      await work()
    } catch (error) {
      ports.logger.error({ error }, 'periodic work failed')
    }
    await arm()
  }
  const arm = async () => {
    if (stopped) return
    const gapMs = await ports.settings().then(({ limits }) => gapOf(limits), settingsFailed)
    if (!stopped) timer = setTimeout(turn, Math.max(workerLimits.gapMsMin, gapMs))
  }
  function settingsFailed(error: unknown): number {
    ports.logger.error({ error }, 'settings could not be read; periodic work goes on')
    return workerLimits.settingsRetryMs
  }
  void arm()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
