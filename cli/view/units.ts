/** `0:05`, `12:41`, `1:02:03`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  if (count < 1024 ** 2) return `${Math.round(count / 1024)} KB`
  return count < 1024 ** 3 ? `${(count / 1024 ** 2).toFixed(1)} MB` : `${(count / 1024 ** 3).toFixed(1)} GB`
}

/** Unknown money is said in words: a zero would be a lie. */
export function money(microUsd: number | null): string {
  return microUsd === null ? 'cost unknown' : `$${(microUsd / 1_000_000).toFixed(2)}`
}

export function tokens(count: number): string {
  return count < 10_000 ? `${count} tokens` : `${Math.round(count / 1000)}k tokens`
}

export function plural(count: number, word: string, many = `${word}s`): string {
  return `${count} ${count === 1 ? word : many}`
}
