import type { EffectPorts } from './effect-ports.ts'
import { effectsLimits } from './limits.ts'
import { sleepUnlessStopped } from './sleep-unless-stopped.ts'
import { type DuePorts, tryDue } from './try-due.ts'

export type LookPorts = DuePorts & {
  /** How long after a look the next one comes while something is still under way. */
  lookGapMs: number
}

/**
 * `tryDue` for each installation by itself, and for what comes in meanwhile: while one waits because GitHub has asked it to,
 * the others go on, also with what was not there at the first look. What an installation has besides is left until its own
 * under way is done. `look` gives the open tasks with their installations; it is told how many due ones it gave before, so
 * that what is left hides nobody. Returns how many were tried; nothing of it runs any more when it returns or throws.
 */
export async function tryByInstallation(
  look: (passedOver: number) => Promise<ReadonlyMap<string, number>>,
  work: (taskId: string, sleep: EffectPorts['sleep']) => Promise<boolean>,
  ports: LookPorts,
): Promise<number> {
  const underWay = new Map<number, Promise<void>>()
  const begin = (installationId: number, tasks: readonly string[]) => {
    const chain = tryDue(tasks, work, ports).then(() => void underWay.delete(installationId))
    underWay.set(installationId, chain)
  }
  let tried = 0
  let passedOver = 0
  try {
    do {
      // Noted before the look: what is done since then may still be open in it.
      const busy = new Set(underWay.keys())
      const found = await look(passedOver).catch(error => {
        if (underWay.size === 0) throw error
        // Those under way go on; the rest is looked for again.
        ports.logger.warn({ error }, 'what is to be sent could not be looked for')
        return new Map<string, number>()
      })
      const open = [...found].filter(([taskId]) => ports.backOff.due(taskId))
      passedOver = open.length
      for (const [installationId, its] of Map.groupBy(open, ([, installation]) => installation)) {
        if (busy.has(installationId) || underWay.size >= effectsLimits.openAtOnceMax) continue
        const tasks = its.slice(0, effectsLimits.openAtOnceMax).map(([taskId]) => taskId)
        begin(installationId, tasks)
        tried += tasks.length
      }
      await lookLater(underWay, ports)
    } while (underWay.size > 0 && !ports.stop.aborted)
  } finally {
    await Promise.all(underWay.values())
  }
  return tried
}

/** Over at once when nothing is under way any more, or by a stop. */
async function lookLater(underWay: ReadonlyMap<number, Promise<void>>, { lookGapMs, stop }: LookPorts): Promise<void> {
  const done = new AbortController()
  void Promise.all(underWay.values()).then(() => done.abort())
  await sleepUnlessStopped(lookGapMs, AbortSignal.any([done.signal, stop]))
}
