import { existsSync, readFileSync } from 'node:fs'

/** What is known about a sandbox that did not start. Facts of the machine first; bwrap's words only tell apart what is left. */
export type FailureFacts = {
  /** Whether bwrap reported a child: before that, no namespace existed. */
  childSeen: boolean
  exit: number | null
  stderr: string
  sysctl: (name: string) => string | null
  inContainer: boolean
}

export type FailureCause = { id: string; cause: string; remedy: string }

type Row = FailureCause & { holds(facts: FailureFacts): boolean }

/**
 * The causes that are known, in the order in which they are tried. Where a sysctl says it, it decides; bwrap has no
 * structured errors, so its messages (0.4 to 0.11) are data in the rows that need them.
 */
const causes: readonly Row[] = [
  {
    id: 'userns-limit',
    cause: 'this machine allows no user namespaces (user.max_user_namespaces is 0)',
    remedy: 'sudo sysctl -w user.max_user_namespaces=15000',
    holds: facts => facts.sysctl('user/max_user_namespaces') === '0',
  },
  {
    id: 'userns-clone',
    cause: 'this machine allows user namespaces to root only (kernel.unprivileged_userns_clone is 0)',
    remedy: 'sudo sysctl -w kernel.unprivileged_userns_clone=1',
    holds: facts => facts.sysctl('kernel/unprivileged_userns_clone') === '0',
  },
  {
    id: 'apparmor',
    cause: 'AppArmor restricts user namespaces on this machine (kernel.apparmor_restrict_unprivileged_userns is 1)',
    remedy: 'load an AppArmor profile for bwrap that contains "userns,", or: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
    holds: facts =>
      facts.sysctl('kernel/apparmor_restrict_unprivileged_userns') === '1' &&
      says(
        facts,
        'setting up uid map: Permission denied',
        'loopback: Failed RTM_NEWADDR',
        'Creating new namespace failed: Permission denied',
      ),
  },
  {
    id: 'namespaces-exhausted',
    cause: 'a limit on the number of namespaces is used up',
    remedy: 'raise the values below /proc/sys/user, or end leftover sandboxes',
    holds: facts => says(facts, 'nesting depth or /proc/sys/user/max_*_namespaces exceeded'),
  },
  {
    id: 'container-seccomp',
    cause: "the container's system call filter refuses new namespaces",
    remedy:
      'start the container with --security-opt seccomp=<profile that allows user namespaces> and --security-opt systempaths=unconfined',
    holds: facts => says(facts, 'No permissions to create new namespace', 'Creating new namespace failed: Operation not permitted'),
  },
  {
    id: 'proc-masked',
    cause: '/proc is partly masked by an outer container, so no new one may be mounted',
    remedy: 'start the container with --security-opt systempaths=unconfined (podman: --security-opt unmask=ALL)',
    holds: facts => says(facts, "Can't mount proc on"),
  },
  {
    id: 'landlocked',
    cause: 'this process is itself restricted by Landlock, under which nothing may be mounted',
    remedy: 'start grokbot outside that restriction',
    holds: facts => says(facts, 'Failed to make / slave: Operation not permitted'),
  },
  {
    id: 'setfcap',
    cause: 'the user id mapping was refused',
    remedy: 'start the worker as an unprivileged user, or give its container CAP_SETFCAP',
    holds: facts => says(facts, 'setting up uid map: Operation not permitted', 'setting up uid map: Permission denied'),
  },
  {
    id: 'unreachable-path',
    cause: 'a folder that was to be mounted cannot be reached by the sandbox user',
    remedy: 'every folder above it must be searchable (mode o+x) for that user',
    holds: facts => says(facts, "Can't find source path"),
  },
  {
    id: 'no-mount-point',
    cause: 'a folder to mount on does not exist and could not be made',
    remedy: 'choose a target that exists in what is mounted around it, or one outside of it',
    holds: facts => says(facts, "Can't mkdir", "Can't create file"),
  },
  {
    id: 'bad-limit',
    cause: 'the resource limits could not be set',
    remedy: "lower the configured limits below the worker's own hard limits (ulimit -H -a)",
    holds: facts => !facts.childSeen && says(facts, 'ulimit:'),
  },
]

export function classifyFailure(facts: FailureFacts): FailureCause {
  const row = causes.find(candidate => candidate.holds(facts))
  if (row) return { id: row.id, cause: row.cause, remedy: row.remedy }
  const where = facts.inContainer ? ' (this is a container; its runtime may refuse namespaces)' : ''
  return { id: 'unknown', cause: `the sandbox did not start${where}`, remedy: 'run `grokbot doctor` and read what bwrap says' }
}

export function explainFailure(failure: { childSeen: boolean; exit: number | null; stderr: string }): string {
  const { cause, remedy } = classifyFailure({ ...failure, sysctl: readSysctl, inContainer: isContainer() })
  const said = failure.stderr.trim().split('\n')[0]?.slice(0, 300)
  return `${cause}; way out: ${remedy}${said ? ` [${said}]` : ''}`
}

function says(facts: FailureFacts, ...messages: string[]): boolean {
  return messages.some(message => facts.stderr.includes(message))
}

export function readSysctl(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, 'latin1').trim()
  } catch {
    return null
  }
}

function isContainer(): boolean {
  return existsSync('/.dockerenv') || existsSync('/run/.containerenv')
}
