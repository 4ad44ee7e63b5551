import type { SandboxReport } from '../../domain/index.ts'

/** What the sandbox was measured to be, in words. */
export function sandboxText({ state, missing }: SandboxReport, network: string): string {
  const parts = state === 'partial' ? missing.filter(name => !name.includes(':')) : []
  const without = parts.length > 0 ? ` (without ${parts.join(', ')})` : ''
  return `sandbox ${state}${without}, ${network === 'none' ? 'no network' : `network ${network}`}`
}
