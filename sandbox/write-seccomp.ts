import { writeFileSync } from 'node:fs'
export function writeSeccompProgram(path: string): void {
  // allow everything: replaced in the next commit
  const program = Buffer.alloc(8)
  program.writeUInt16LE(0x06, 0)
  program.writeUInt32LE(0x7fff0000, 4)
  writeFileSync(path, program, { mode: 0o400 })
}
