/** `--help` of a script of package.json: prints how it is called. True when that was all that was asked for. */
export function printedUsage(text: string): boolean {
  if (!process.argv.includes('--help') && !process.argv.includes('-h')) return false
  process.stdout.write(`${text}\n`)
  return true
}

/** What the caller got wrong, then how it is called; nothing was started. */
export function wrongUsage(problem: string, text: string): never {
  process.stderr.write(`${problem}\n${text}\n`)
  process.exit(2)
}
