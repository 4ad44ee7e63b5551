import { readdirSync, readFileSync } from 'node:fs'

export type Found = { pid: number; command: string }

/** Every process below this test process: other tests, of other people too, run side by side as the same user. */
export function descendants(root = process.pid): Found[] {
  const found: Found[] = []
  const waiting = [root]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    try {
      const children = readdirSync(`/proc/${pid}/task`).flatMap(thread =>
        readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
      )
      waiting.push(...children)
      if (pid !== root) found.push({ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ') })
    } catch {
      // It ended meanwhile.
    }
  }
  return found
}

/** Those of the processes that still run (a zombie does not). */
export function alive(processes: readonly Found[]): Found[] {
  return processes.filter(({ pid }) => {
    try {
      return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
    } catch {
      return false
    }
  })
}

/** Command lines anywhere on the machine that carry this mark. */
export function marked(mark: string): string[] {
  return readdirSync('/proc')
    .filter(name => /^[0-9]+$/.test(name) && Number(name) !== process.pid)
    .flatMap(name => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ')
        return command.includes(mark) ? [command] : []
      } catch {
        return []
      }
    })
}
