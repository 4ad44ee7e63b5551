import { defaultLimits } from '../../config-schema/index.ts'
import type { WorkerSettings } from '../../worker/index.ts'
import { UsageError } from '../exit.ts'

/** Doctor goes on with the defaults when the operator's file is broken: that is a finding of its own. */
export function settingsOrDefaults(read: () => WorkerSettings): WorkerSettings {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { limits: defaultLimits(), operator: { version: 1 }, prefix: '/grok' }
  }
}
