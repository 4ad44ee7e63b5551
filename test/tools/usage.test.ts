import path from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

/** Each script of package.json that takes arguments: what it says of a wrong one, at once and without a stack. */
const calls: [script: string, argv: string[], exitCode: number, says: RegExp][] = [
  ['bench/main.ts', ['turn', '--turns', '20'], 2, /^turn: --turns is not taken\nusage: /],
  ['bench/main.ts', ['turn', 'workspace', '--files', '10'], 2, /^turn and workspace: --files is not taken\nusage: /],
  ['bench/main.ts', ['turn', 'nothing'], 2, /^there is no bench nothing\nusage: /],
  ['bench/main.ts', ['--help'], 0, /^usage: /],
  ['tools/crash.ts', ['--help'], 0, /^usage: /],
  ['tools/crash.ts', ['--no-such'], 2, /^--no-such is not taken\nusage: /],
  ['tools/attacks.ts', ['--help'], 0, /^usage: /],
  ['tools/attacks.ts', ['--plays', 'none'], 2, /^--plays is a number/],
  ['tools/run-tests.ts', ['--help'], 0, /^usage: /],
]
it.each(calls)('%s %j says how it is called and starts nothing', { timeout: 30_000 }, async (script, argv, exitCode, says) => {
  const ran = await execa(process.execPath, [path.join(root, script), ...argv], { reject: false, timeout: 20_000 })
  expect([ran.exitCode, `${ran.stdout}${ran.stderr}`]).toEqual([exitCode, expect.stringMatching(says)])
})

it('./dev with a script that is none names it and lists those there are', async () => {
  const bare = await execa(path.join(root, 'dev'), [], { reject: false })
  for (const word of ['nonsense', 'check fix', 'scripts', '--help']) {
    const ran = await execa(path.join(root, 'dev'), [word], { reject: false })
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([2, '', `dev: there is no script ${word}\n${bare.stderr}`])
  }
})

it('./dev without a script lists the scripts and nothing else', async () => {
  const ran = await execa(path.join(root, 'dev'), [], { reject: false })
  expect(ran.stderr).toMatch(/scripts: check fix generate test demo crash attacks build bench grokbot *$/)
})
