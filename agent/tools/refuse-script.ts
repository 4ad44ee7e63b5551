/**
 * Scripts that are not started at all, with the reason the model is told; null = start it. This is help, not safety: what a
 * script may do is decided by the sandbox alone.
 */
export function refuseScript(script: string, bytesMax: number): string | null {
  if (script.includes('\0')) return 'The command was not run: it holds a NUL byte.'
  const bytes = Buffer.byteLength(script)
  if (bytes > bytesMax)
    return `The command was not run: it has ${bytes} bytes, at most ${bytesMax} can be started. Write it to a file and run that.`
  const bare = withoutQuoted(script)
  if (leavesBackground(bare)) {
    return 'The command was not run: it starts something in the background (&), and nothing outlives its command here. Run it in the foreground, or end the command with `wait`; a server and its test belong in one command: `server & pid=$!; test; kill $pid; wait`.'
  }
  const own = killsItself(script, bare)
  return own === null
    ? null
    : `The command was not run: \`${own}\` also matches the command line it stands in and would end this very command. Use the process id.`
}

/** An `&` that is no part of `&&`, `&>`, `>&`, `<&` or `\&`, in a script that does not end by waiting. */
function leavesBackground(bare: string): boolean {
  if (/(?:^|[;&|\n({]\s*|\s)wait(?:\s+[^;&|\n]*)?\s*;?\s*$/.test(bare)) return false
  return /(?<![&><\\|;])&(?![&>])/.test(bare)
}

const patternCharsMin = 3

/** `pkill -f x` matches every command line with x in it, the shell's that runs it too. */
function killsItself(script: string, bare: string): string | null {
  for (const match of script.matchAll(
    /\b(pkill|pgrep)\b((?:\s+-[\w-]+)*\s+-\w*f\w*(?:\s+-[\w-]+)*)\s+(?:--\s+)?(?:'([^']+)'|"([^"$`\\]+)"|([\w./:@-]+))/g,
  )) {
    const [whole, program, , single, double, plain] = match
    const pattern = single ?? double ?? plain ?? ''
    if (pattern.length < patternCharsMin || !/^[\w ./:@-]+$/.test(pattern)) continue
    const elsewhere = script.replace(whole, '').includes(pattern)
    if (elsewhere && (program === 'pkill' || /\bkill\b/.test(bare))) return whole
  }
  return null
}

/** The script with the insides of quotes, comments and here-documents blanked, so that only its own operators are left. */
function withoutQuoted(script: string): string {
  let out = ''
  let heredocs: { end: string; tabs: boolean }[] = []
  for (let at = 0; at < script.length; ) {
    const rest = script.slice(at)
    const heredoc = /^<<(-?)\s*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.-]+))/.exec(rest)
    if (heredoc && !rest.startsWith('<<<')) {
      heredocs.push({ end: heredoc[2] ?? heredoc[3] ?? heredoc[4] ?? '', tabs: heredoc[1] === '-' })
      at += heredoc[0].length
    } else if (script[at] === '\n' && heredocs.length > 0) {
      for (const { end, tabs } of heredocs) at = afterHeredoc(script, at, end, tabs)
      heredocs = []
      out += '\n'
    } else {
      const quoted = /^(?:\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)|\\[\s\S]|'[^']*'|\$'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*")/.exec(
        rest,
      )
      const comment = quoted ? null : /(?:^|[\s;&|(])$/.test(out) ? /^#[^\n]*/.exec(rest) : null
      const skipped = (quoted ?? comment)?.[0]
      out += skipped === undefined ? script[at] : quoted ? '_' : ''
      at += skipped?.length ?? 1
    }
  }
  return out
}

/** The index of the newline after the here-document whose body begins after the newline at `at`. */
function afterHeredoc(script: string, at: number, end: string, tabs: boolean): number {
  let line = at + 1
  while (line <= script.length) {
    const next = script.indexOf('\n', line)
    const text = script.slice(line, next < 0 ? script.length : next)
    if ((tabs ? text.replace(/^\t+/, '') : text) === end) return next < 0 ? script.length : next
    if (next < 0) return script.length
    line = next + 1
  }
  return script.length
}
