import type { NewEvent } from '../domain/index.ts'

/** What untrusted text this session has read. It only grows; each source is said once. */
export type Taints = {
  /** The event that says so, or null when it was said before. */
  raise(source: string, detail: string): NewEvent | null
  all(): readonly { source: string; detail: string }[]
}

export function openTaints(known: readonly { source: string; detail: string }[]): Taints {
  const taints = [...known]
  return {
    raise(source, detail) {
      if (taints.some(taint => taint.source === source)) return null
      taints.push({ source, detail })
      return { type: 'taint.raised', commandId: `taint:${source}`, payload: { source, detail } }
    },
    all: () => taints,
  }
}
