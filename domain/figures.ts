/** How long something took, as people read it: `12 s`, `6 min 41 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`
}

/** How long one thing took: `0.2 s`, `12 s`, `3 min`. */
export function took(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  return ms < 180_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}

export function money(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(2)}`
}
