import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { describe, expect, test } from 'vitest'
import { seccompProgram } from '../../sandbox/seccomp/program.ts'
import {
  type Architecture,
  auditArchitecture,
  newestKnownSyscall,
  type SyscallName,
  syscallNumber,
  syscallNumbers,
} from '../../sandbox/seccomp/syscalls.ts'

const { EPERM, ENOSYS, EAFNOSUPPORT, EPROTONOSUPPORT } = constants.errno
type Call = { nr: number; arch: number; args?: readonly number[] }

/** Runs a classic BPF program over struct seccomp_data, as the kernel does. */
function simulate(program: Buffer, call: Call): string {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.nr >>> 0, 0)
  data.writeUInt32LE(call.arch, 4)
  for (const [index, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index)
  let accumulator = 0
  for (let at = 0; at < program.byteLength / 8; at += 1) {
    const [code, jt, jf, k] = [
      program.readUInt16LE(at * 8),
      program[at * 8 + 2] ?? 0,
      program[at * 8 + 3] ?? 0,
      program.readUInt32LE(at * 8 + 4),
    ]
    const jump = (taken: boolean) => {
      at += taken ? jt : jf
    }
    if (code === 0x20) accumulator = data.readUInt32LE(k)
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0
    else if (code === 0x15) jump(accumulator === k)
    else if (code === 0x25) jump(accumulator > k)
    else if (code === 0x35) jump(accumulator >= k)
    else if (code === 0x45) jump((accumulator & k) !== 0)
    else if (code === 0x06) return verdictName(k)
    else throw new Error(`unknown instruction ${code} at ${at}`)
  }
  throw new Error('the program ended without a verdict')
}

function verdictName(action: number): string {
  if (action === 0x7fff0000) return 'allow'
  if (action === 0x80000000) return 'kill'
  const error = Object.entries({ EPERM, ENOSYS, EAFNOSUPPORT, EPROTONOSUPPORT }).find(([, value]) => action === (0x50000 | value))
  return error?.[0] ?? `unknown ${action}`
}

const cases: [call: SyscallName, args: number[], verdict: string][] = [
  ['clone3', [], 'ENOSYS'],
  ['openat2', [], 'ENOSYS'],
  ['io_uring_setup', [], 'ENOSYS'],
  ['fchmodat2', [], 'ENOSYS'],
  ['unshare', [0x10000000], 'EPERM'],
  ['setns', [3, 0], 'EPERM'],
  ['mount', [], 'EPERM'],
  ['ptrace', [16, 1], 'EPERM'],
  ['pidfd_getfd', [], 'EPERM'],
  ['bpf', [], 'EPERM'],
  ['keyctl', [], 'EPERM'],
  ['clone', [0x01200011], 'allow'],
  ['clone', [0x003d0f00], 'allow'],
  ...[0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000].map(
    flag => ['clone', [flag | 17], 'EPERM'] as [SyscallName, number[], string],
  ),
  ['socket', [1, 1, 0], 'allow'],
  ['socket', [2, 1, 0], 'allow'],
  ['socket', [2, 1 | 0o2000000 | 0o4000, 6], 'allow'],
  ['socket', [10, 2, 17], 'allow'],
  ['socket', [2, 3, 1], 'EPROTONOSUPPORT'],
  ['socket', [2, 2, 1], 'EPROTONOSUPPORT'],
  ['socket', [2, 1, 262], 'EPROTONOSUPPORT'],
  ['socket', [16, 3, 0], 'allow'],
  ['socket', [16, 3, 16], 'EAFNOSUPPORT'],
  ...[0, 17, 38, 40, 44].map(family => ['socket', [family, 1, 0], 'EAFNOSUPPORT'] as [SyscallName, number[], string]),
  ['ioctl', [0, 0x5412], 'EPERM'],
  ['ioctl', [0, 0x541c], 'EPERM'],
  // The kernel looks at the low half of the request alone, and so must the filter.
  ['ioctl', [0, 0x1_0000_5412], 'EPERM'],
  ['ioctl', [0, 0x5413], 'allow'],
  ['fchmod', [3, 0o755], 'allow'],
  ['fchmod', [3, 0o4755], 'EPERM'],
  ['fchmodat', [-100, 0, 0o2755], 'EPERM'],
  ['mkdirat', [-100, 0, 0o777], 'allow'],
  ['mkdirat', [-100, 0, 0o2777], 'EPERM'],
  ['openat', [-100, 0, 0, 0o4755], 'allow'],
  ['openat', [-100, 0, 0o100, 0o644], 'allow'],
  ['openat', [-100, 0, 0o101, 0o4755], 'EPERM'],
  ['openat', [-100, 0, 0o20200001, 0o2755], 'EPERM'],
  ['mknodat', [-100, 0, 0o010644, 0], 'allow'],
  ['mknodat', [-100, 0, 0o140644, 0], 'allow'],
  ['mknodat', [-100, 0, 0o020644, 0], 'EPERM'],
  ['mknodat', [-100, 0, 0o060644, 0], 'EPERM'],
  ['mknodat', [-100, 0, 0o104755, 0], 'EPERM'],
]

const architectures: Architecture[] = ['x86_64', 'aarch64']

describe.each(architectures)('the filter for %s', architecture => {
  const arch = auditArchitecture[architecture]
  const program = seccompProgram(architecture, 'loopback')

  test.each(cases)('answers %s %j with %s', (name, args, verdict) => {
    const nr = syscallNumber(name, architecture) as number
    expect(simulate(program, { nr, arch, args })).toBe(verdict)
  })

  test('kills a call of another architecture, tells unknown calls that they do not exist, allows the rest', () => {
    const other = architectures.find(name => name !== architecture) as Architecture
    expect({
      foreign: simulate(program, { nr: 0, arch: auditArchitecture[other] }),
      i386: simulate(program, { nr: 4, arch: 0x40000003 }),
      newer: simulate(program, { nr: newestKnownSyscall + 1, arch }),
      newest: simulate(program, { nr: newestKnownSyscall, arch }),
      zero: simulate(program, { nr: 0, arch }),
    }).toEqual({ foreign: 'kill', i386: 'kill', newer: 'ENOSYS', newest: 'allow', zero: 'allow' })
  })

  test('the filter of the file host allows Unix sockets alone', () => {
    const local = seccompProgram(architecture, 'local')
    const nr = syscallNumber('socket', architecture) as number
    expect([1, 2, 10, 16, 40].map(family => simulate(local, { nr, arch, args: [family, 1, 0] }))).toEqual([
      'allow',
      ...Array(4).fill('EAFNOSUPPORT'),
    ])
  })

  test('is short enough for the kernel', () => {
    expect(program.byteLength / 8).toBeLessThan(4096)
  })
})

test('the x32 numbers of x86_64 are killed', () => {
  const program = seccompProgram('x86_64', 'loopback')
  expect(simulate(program, { nr: 0x40000000 + 39, arch: auditArchitecture.x86_64 })).toBe('kill')
})

test('the numbers are those of the kernel headers on this machine', () => {
  const header = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'
  // Headers come with every C compiler; where there is none, the frozen numbers above are all that is compared.
  const known = new Map(
    existsSync(header)
      ? [...readFileSync(header, 'latin1').matchAll(/^#define __NR_(\w+) (\d+)$/gm)].map(([, name, nr]) => [name, Number(nr)])
      : [],
  )
  const compared = Object.entries(syscallNumbers).filter(([name, [x86]]) => x86 !== null && known.has(name))
  expect(compared.filter(([name, [x86]]) => known.get(name) !== x86)).toEqual([])
  if (known.size > 0) expect(compared.length).toBeGreaterThan(70)
})
