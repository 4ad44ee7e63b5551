/** GitHub counts what makes content, such as a comment or a pull request, apart from other writes. */
export type WriteKind = 'content' | 'other'

/** What one installation may write; `writeGapMs` lies between the end of one write and the next. */
export type WriteLimits = { writeGapMs: number; contentPerMinuteMax: number; contentPerHourMax: number }

/**
 * The writes of each installation, one after another and apart, as GitHub asks for: whoever goes faster is limited for
 * minutes. For one process; two of them do not know of each other. It only says when, and waits for nothing itself.
 */
export type WritePace = {
  /** `begun`: now, and nobody else of this installation until `ended` is called. `wait`: ask again then. */
  begin(installationId: number, kind: WriteKind, limits: WriteLimits): { kind: 'begun'; ended(): void } | { kind: 'wait'; ms: number }
  /** GitHub has asked for it: so long nothing is written for this installation, whoever wants to. */
  leaveAlone(installationId: number, ms: number): void
}

/** While another one is on its way; that is bounded by its own time. */
const busyLookMs = 20
const minuteMs = 60_000
const hourMs = 3_600_000
/** Installations that are remembered before those that have been quiet for an hour are forgotten. */
const linesMax = 1_000

type Line = { busy: boolean; endedAt: number; quietUntil: number; contentAt: number[] }

/** `now`: a clock that only goes forward, in milliseconds. */
export function createWritePace(now: () => number = () => performance.now()): WritePace {
  const lines = new Map<number, Line>()
  const lineOf = (installationId: number): Line => {
    const line = lines.get(installationId) ?? { busy: false, endedAt: -hourMs, quietUntil: 0, contentAt: [] }
    if (!lines.has(installationId)) forgetQuiet(lines, now())
    lines.set(installationId, line)
    return line
  }
  return {
    begin(installationId, kind, limits) {
      const line = lineOf(installationId)
      const at = now()
      line.contentAt = line.contentAt.filter(each => each > at - hourMs)
      const ms = line.busy ? busyLookMs : dueAt(line, kind, limits) - at
      if (ms > 0) return { kind: 'wait', ms: Math.ceil(ms) }
      line.busy = true
      if (kind === 'content') line.contentAt.push(at)
      return {
        kind: 'begun',
        ended() {
          line.busy = false
          line.endedAt = now()
        },
      }
    },
    leaveAlone(installationId, ms) {
      const line = lineOf(installationId)
      line.quietUntil = Math.max(line.quietUntil, now() + ms)
    },
  }
}

function dueAt({ endedAt, quietUntil, contentAt }: Line, kind: WriteKind, limits: WriteLimits): number {
  const times = [endedAt + limits.writeGapMs, quietUntil]
  if (kind === 'other') return Math.max(...times)
  return Math.max(...times, freeAt(contentAt, limits.contentPerMinuteMax, minuteMs), freeAt(contentAt, limits.contentPerHourMax, hourMs))
}

/** When the window has room for one more: once the `max`-th newest has left it. */
function freeAt(times: readonly number[], max: number, windowMs: number): number {
  const oldest = times.at(-max)
  return oldest === undefined ? 0 : oldest + windowMs
}

function forgetQuiet(lines: Map<number, Line>, at: number): void {
  if (lines.size < linesMax) return
  for (const [id, { busy, endedAt, quietUntil }] of lines) if (!busy && Math.max(endedAt, quietUntil) < at - hourMs) lines.delete(id)
}
