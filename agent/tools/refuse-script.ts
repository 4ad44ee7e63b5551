/**
 * Scripts that are not started at all, with the reason the model is told; null = start it. This is help, not safety: what a
 * script may do is decided by the sandbox alone.
 */
export function refuseScript(script: string, bytesMax: number): string | null {
  if (script.includes('\0')) return 'The command was not run: it holds a NUL byte.'
  const bytes = Buffer.byteLength(script)
  if (bytes > bytesMax)
    return `The command was not run: it has ${bytes} bytes, at most ${bytesMax} can be started. Write it to a file and run that.`
  return null
}
