import { insidePaths } from './sandbox.ts'

/** Everything a command's environment holds by itself. Frozen by a test: nothing of the worker's own reaches a command. */
export const agentEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: insidePaths.home,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  TMPDIR: insidePaths.tmp,
  LANG: 'C.UTF-8',
  TERM: 'dumb',
} as const

/** The environment of one session's commands: an operator's toolchains are found before the system's programs. */
export function commandEnvironment(path: readonly string[] = []): Record<string, string> {
  const unusable = path.find(folder => !folder.startsWith('/') || folder.includes(':'))
  if (unusable !== undefined) throw new Error(`not usable in a search path: ${JSON.stringify(unusable)}`)
  return { ...agentEnvironment, PATH: [...path, agentEnvironment.PATH].join(':') }
}
