/**
 * GitHub counts what makes content, such as a comment or a pull request, apart from other writes. `courtesy`: content that
 * anybody can cause, such as a refusal; it may use half of what there is, so that the other half is left for results.
 */
export type WriteKind = 'content' | 'courtesy' | 'other'

/** `ticket`: who asks, the same each time; of those that are ready the first that asked is the next. */
export type WriteWish = { kind: WriteKind; ticket: symbol }

/** What one installation may write; `writeGapMs` lies between the end of one write and the next. */
export type WriteLimits = { writeGapMs: number; contentPerMinuteMax: number; contentPerHourMax: number }

/**
 * The writes of each installation, one after another and apart, as GitHub asks for: whoever goes faster is limited for
 * minutes. For one process; two of them do not know of each other. It only says when, and waits for nothing itself.
 */
export type WritePace = {
  /** `begun`: now, and nobody else of this installation until `ended` is called. `wait`: ask again then. */
  begin(installationId: number, wish: WriteWish, limits: WriteLimits): { kind: 'begun'; ended(): void } | { kind: 'wait'; ms: number }
  /** GitHub has asked for it: so long, an hour at most, nothing is written for this installation, whoever wants to. */
  leaveAlone(installationId: number, ms: number): void
}

/** While another one is on its way; that is bounded by its own time. */
const busyLookMs = 20
const minuteMs = 60_000
const hourMs = 3_600_000
/** Installations that are remembered before those that have been quiet for an hour are forgotten. */
const linesMax = 1_000
/** Who has not asked again for so long behind its time has gone away. */
const goneMs = 1_000

type Waiting = { readyAt: number; looksAt: number }
type Line = { busy: boolean; endedAt: number; quietUntil: number; contentAt: number[]; waiting: Map<symbol, Waiting> }

/** `now`: a clock that only goes forward, in milliseconds. */
export function createWritePace(now: () => number = () => performance.now()): WritePace {
  const lines = new Map<number, Line>()
  const lineOf = (installationId: number): Line => {
    const line = lines.get(installationId) ?? { busy: false, endedAt: -hourMs, quietUntil: 0, contentAt: [], waiting: new Map() }
    if (!lines.has(installationId)) forgetQuiet(lines, now())
    lines.set(installationId, line)
    return line
  }
  return {
    begin(installationId, { kind, ticket }, limits) {
      const line = lineOf(installationId)
      const at = now()
      line.contentAt = line.contentAt.filter(each => each > at - hourMs)
      const readyAt = dueAt(line, kind, limits)
      const ms = readyAt > at ? Math.ceil(readyAt - at) : line.busy || isBehind(line, ticket, at) ? busyLookMs : 0
      if (ms > 0) {
        // A ticket keeps its place in the map when it is set again.
        line.waiting.set(ticket, { readyAt, looksAt: at + ms })
        return { kind: 'wait', ms }
      }
      line.waiting.delete(ticket)
      line.busy = true
      if (kind !== 'other') line.contentAt.push(at)
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
      line.quietUntil = Math.max(line.quietUntil, now() + Math.min(ms, hourMs))
    },
  }
}

function dueAt({ endedAt, quietUntil, contentAt }: Line, kind: WriteKind, limits: WriteLimits): number {
  const times = [endedAt + limits.writeGapMs, quietUntil]
  if (kind === 'other') return Math.max(...times)
  const share = (max: number) => (kind === 'courtesy' ? Math.max(1, Math.floor(max / 2)) : max)
  const { contentPerMinuteMax: minute, contentPerHourMax: hour } = limits
  return Math.max(...times, freeAt(contentAt, share(minute), minuteMs), freeAt(contentAt, share(hour), hourMs))
}

/** Whether somebody who asked before is ready too. Whoever waits for a time that has not come is in nobody's way. */
function isBehind({ waiting }: Line, ticket: symbol, at: number): boolean {
  for (const [each, { readyAt, looksAt }] of waiting) {
    if (each === ticket) return false
    if (looksAt < at - goneMs) waiting.delete(each)
    else if (readyAt <= at) return true
  }
  return false
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
