import { constants } from 'node:os'
import { and, assemble, type Instruction, load, ret, unless, when } from './bpf.ts'
import { type Architecture, auditArchitecture, newestKnownSyscall, type SyscallName, syscallNumber } from './syscalls.ts'

/** `loopback`: TCP and UDP sockets may be made (the network namespace bounds where they lead). `local`: Unix sockets only. */
export type SocketRule = 'loopback' | 'local'

const allow = 0x7fff0000
const killProcess = 0x80000000
const fail = (error: number) => 0x00050000 | error
const { EPERM, ENOSYS, EAFNOSUPPORT, EPROTONOSUPPORT } = constants.errno

/**
 * The system call filter, loaded by bwrap right before exec and inherited by everything after it. It takes away what the
 * namespaces leave open: making new namespaces, mounts, foreign memory, kernel surfaces nobody needs to build or test
 * software, socket families that reach the hypervisor, and files that gain privileges.
 */
export function seccompProgram(architecture: Architecture, sockets: SocketRule): Buffer {
  return assemble([
    load.architecture(),
    ...unless('equal', auditArchitecture[architecture], [ret(killProcess)]),
    load.number(),
    // The x32 table numbers the same calls differently, past any check made by number.
    ...(architecture === 'x86_64' ? when('greaterOrEqual', x32Bit, [ret(killProcess)]) : []),
    ...when('greater', newestKnownSyscall, [ret(fail(ENOSYS))]),
    ...rules(sockets).flatMap(({ name, body }) => {
      const number = syscallNumber(name, architecture)
      return number === null ? [] : when('equal', number, body)
    }),
    ret(allow),
  ])
}

const x32Bit = 0x40000000

type Rule = { name: SyscallName; body: Instruction[] }

function rules(sockets: SocketRule): Rule[] {
  return [
    ...absent.map(name => ({ name, body: [ret(fail(ENOSYS))] })),
    ...forbidden.map(name => ({ name, body: [ret(fail(EPERM))] })),
    { name: 'clone', body: [load.argument(0), ...when('anySet', namespaceFlags, [ret(fail(EPERM))]), ret(allow)] },
    { name: 'socket', body: sockets === 'local' ? localSockets : loopbackSockets },
    {
      name: 'ioctl',
      body: [load.argument(1), ...terminalInjection.flatMap(request => when('equal', request, [ret(fail(EPERM))])), ret(allow)],
    },
    ...modeArguments.map(([name, index]) => ({ name, body: [...noPrivilegedMode(index), ret(allow)] })),
    { name: 'open', body: noPrivilegedCreate(1) },
    { name: 'openat', body: noPrivilegedCreate(2) },
    { name: 'mknod', body: noDevice(1) },
    { name: 'mknodat', body: noDevice(2) },
  ]
}

/** Flags or modes behind a pointer cannot be checked, and every caller can do without: the C library falls back. */
const absent: readonly SyscallName[] = [
  ...(['clone3', 'openat2', 'fchmodat2', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const),
  ...(['memfd_secret', 'statmount', 'listmount'] as const),
]

const forbidden: readonly SyscallName[] = [
  // Namespaces and mounts.
  ...(['unshare', 'setns', 'chroot', 'mount', 'umount2', 'pivot_root', 'move_mount', 'open_tree'] as const),
  ...(['fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'open_by_handle_at', 'name_to_handle_at'] as const),
  // Other processes' memory and descriptors.
  ...(['ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'process_mrelease', 'pidfd_getfd', 'kcmp'] as const),
  // Large kernel surfaces.
  ...(['bpf', 'perf_event_open', 'userfaultfd', 'keyctl', 'add_key', 'request_key', 'fanotify_init', 'lookup_dcookie'] as const),
  ...(['modify_ldt', 'uselib', 'nfsservctl', 'move_pages', 'migrate_pages'] as const),
  // The machine itself.
  ...(['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module', 'create_module', 'query_module'] as const),
  ...([
    'get_kernel_syms',
    'reboot',
    'swapon',
    'swapoff',
    'acct',
    'quotactl',
    'quotactl_fd',
    'syslog',
    'vhangup',
    'iopl',
    'ioperm',
  ] as const),
  ...(['settimeofday', 'clock_settime', 'clock_adjtime', 'adjtimex', 'sethostname', 'setdomainname', '_sysctl', 'sysfs', 'ustat'] as const),
]

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME cannot be asked of clone(2). */
const namespaceFlags = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

/** TIOCSTI types into the terminal, TIOCLINUX pastes into a console. */
const terminalInjection = [0x5412, 0x541c]

const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const

const localSockets: Instruction[] = [load.argument(0), ...when('equal', family.unix, [ret(allow)]), ret(fail(EAFNOSUPPORT))]

/** SOCK_STREAM and SOCK_DGRAM with protocol 0, TCP or UDP: no raw, ping, SCTP or multipath sockets. */
const internetSocket: Instruction[] = [
  load.argument(1),
  and(0xf),
  ...when('greater', 2, [ret(fail(EPROTONOSUPPORT))]),
  load.argument(2),
  ...[0, 6, 17].flatMap(protocol => when('equal', protocol, [ret(allow)])),
  ret(fail(EPROTONOSUPPORT)),
]

/** Name look-up asks the kernel for its addresses over netlink's routing protocol, which is number 0. */
const routeNetlink: Instruction[] = [load.argument(2), ...when('equal', 0, [ret(allow)]), ret(fail(EAFNOSUPPORT))]

const loopbackSockets: Instruction[] = [
  load.argument(0),
  ...when('equal', family.unix, [ret(allow)]),
  ...when('equal', family.inet, internetSocket),
  ...when('equal', family.inet6, internetSocket),
  ...when('equal', family.netlink, routeNetlink),
  ret(fail(EAFNOSUPPORT)),
]

const privilegeBits = 0o6000

/** A file with the set-user or set-group bit would keep it on the host, where no filter stands behind it. */
function noPrivilegedMode(index: number): Instruction[] {
  return [load.argument(index), ...when('anySet', privilegeBits, [ret(fail(EPERM))])]
}

const modeArguments: readonly (readonly [SyscallName, number])[] = [
  ['chmod', 1],
  ['fchmod', 1],
  ['fchmodat', 2],
  ['mkdir', 1],
  ['mkdirat', 2],
  ['creat', 1],
]

/** O_CREAT and O_TMPFILE make a file with the mode that follows the flags; otherwise that argument is garbage. */
const createFlags = 0o100 | 0o20000000

function noPrivilegedCreate(flagsIndex: number): Instruction[] {
  return [load.argument(flagsIndex), ...when('anySet', createFlags, [...noPrivilegedMode(flagsIndex + 1), ret(allow)]), ret(allow)]
}

const fileType = { mask: 0o170000, character: 0o020000, block: 0o060000 } as const

function noDevice(modeIndex: number): Instruction[] {
  return [
    ...noPrivilegedMode(modeIndex),
    and(fileType.mask),
    ...when('equal', fileType.character, [ret(fail(EPERM))]),
    ...when('equal', fileType.block, [ret(fail(EPERM))]),
    ret(allow),
  ]
}

/** The architecture of this process as the filter names it; null where none is written for it. */
export function hostArchitecture(): Architecture | null {
  return process.arch === 'x64' ? 'x86_64' : process.arch === 'arm64' ? 'aarch64' : null
}
