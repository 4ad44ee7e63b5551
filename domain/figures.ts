/** How long something took, as people read it: `12 s`, `6 min 41 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`
}

export function money(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(2)}`
}
