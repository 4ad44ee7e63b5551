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
