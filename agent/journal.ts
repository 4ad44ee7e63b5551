import type { NewEvent } from '../domain/index.ts'
import type { RecordEvents } from './ports.ts'
import type { Stop } from './stop.ts'

/** Appends one after another, whoever asks. False: the task belongs to a newer attempt and nothing may be acted on. */
export type Journal = { append(...events: NewEvent[]): Promise<boolean> }

export function openJournal(record: RecordEvents, stop: Stop): Journal {
  let last: Promise<unknown> = Promise.resolve()
  return {
    append(...events) {
      const appended = last.then(async () => {
        if (stop.reason() === 'fenced') return false
        const outcome = await record(events)
        if (outcome === 'fenced') stop.fence()
        return outcome === 'recorded'
      })
      last = appended.catch(() => {})
      return appended
    },
  }
}
