import type { ProgressUpdate } from './ports.ts'

/** A view that fails must not fail the session it shows. */
export function openProgress(port: (update: ProgressUpdate) => void): (update: ProgressUpdate) => void {
  return update => {
    try {
      port(update)
    } catch {
      // Nothing can be said of it here: this is the way things are said.
    }
  }
}
