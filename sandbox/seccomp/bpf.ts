/** One classic BPF instruction, as linux/filter.h has it. */
export type Instruction = { code: number; jt: number; jf: number; k: number }

/** struct seccomp_data: nr at 0, arch at 4, six arguments of eight bytes from 16. Both architectures are little-endian. */
const offsets = { number: 0, architecture: 4, arguments: 16 } as const

export const load = {
  number: (): Instruction => ({ code: 0x20, jt: 0, jf: 0, k: offsets.number }),
  architecture: (): Instruction => ({ code: 0x20, jt: 0, jf: 0, k: offsets.architecture }),
  /** The low 32 bits of an argument: the kernel truncates ints, modes and flags the same way. */
  argument: (index: number): Instruction => ({ code: 0x20, jt: 0, jf: 0, k: offsets.arguments + 8 * index }),
}

export function and(mask: number): Instruction {
  return { code: 0x54, jt: 0, jf: 0, k: mask }
}

export function ret(action: number): Instruction {
  return { code: 0x06, jt: 0, jf: 0, k: action }
}

type Test = 'equal' | 'greater' | 'greaterOrEqual' | 'anySet'
const testCodes: Record<Test, number> = { equal: 0x15, greater: 0x25, greaterOrEqual: 0x35, anySet: 0x45 }

/** Runs `then` when the loaded value passes the test; otherwise goes on behind it. `then` ends with a return. */
export function when(test: Test, k: number, then: readonly Instruction[]): Instruction[] {
  if (then.length > 255) throw new Error(`a jump over ${then.length} instructions does not fit`)
  return [{ code: testCodes[test], jt: 0, jf: then.length, k }, ...then]
}

/** Runs `then` when the loaded value does not pass the test. */
export function unless(test: Test, k: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: testCodes[test], jt: then.length, jf: 0, k }, ...then]
}

/** The bytes bwrap reads: eight a instruction, in the machine's order. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jt, index * 8 + 2)
    bytes.writeUInt8(jf, index * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4)
  }
  return bytes
}
