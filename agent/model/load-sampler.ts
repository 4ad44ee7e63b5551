/**
 * The model's client is the largest part of the program, so it is loaded when a session is near: whoever makes the session's
 * work tree ready has its code loaded while git works. Safe to repeat.
 */
export function loadSampler(): Promise<typeof import('./sampler.ts')> {
  loading ??= import('./sampler.ts')
  return loading
}

let loading: Promise<typeof import('./sampler.ts')> | null = null
