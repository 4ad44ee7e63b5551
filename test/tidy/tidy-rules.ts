/** What the linter can not say. Each rule sees one file; a reasoned exception is one line in `exceptions`. */
export type SourceFile = { path: string; text: string }
export type TidyRule = { name: string; applies(path: string): boolean; finds(file: SourceFile): boolean; planted: SourceFile }

const isSource = (path: string) => path.endsWith('.ts') && !path.startsWith('test/')
const isTest = (path: string) => path.startsWith('test/') && path.endsWith('.ts')
const zodHomes = /^(?:config-schema|domain|github|simulator|tools|agent|effects|app|ledger|sandbox|cli)\//
const dumpingGrounds = /(?:^|\/)(?:utils?|helpers?|common|shared|misc|lib)(?:\/|\.ts$)/

export const tidyRules: readonly TidyRule[] = [
  {
    name: 'a source file has at most 400 lines',
    applies: isSource,
    finds: ({ text }) => text.split('\n').length > 401,
    planted: { path: 'app/long.ts', text: '\n'.repeat(402) },
  },
  {
    name: 'no folder or file is a dumping ground',
    applies: path => path.endsWith('.ts'),
    finds: ({ path }) => dumpingGrounds.test(path),
    planted: { path: 'app/utils/x.ts', text: '' },
  },
  {
    name: 'errors are not told apart by their message',
    applies: isSource,
    finds: ({ text }) => /\.message\s*(?:===|!==|\.includes\(|\.startsWith\(|\.match\()/.test(text),
    planted: { path: 'app/x.ts', text: "if (error.message === 'no') retry()" },
  },
  {
    name: 'no shell string is built',
    applies: isSource,
    finds: ({ text }) => /\bshell:\s*true\b|\bexecSync\(|\bexec\(\s*[`'"]/.test(text),
    planted: { path: 'app/x.ts', text: 'spawn(name, { shell: true })' },
  },
  {
    name: 'the environment is read in one file',
    applies: path =>
      isSource(path) &&
      path !== 'config-schema/environment.ts' &&
      path !== 'vitest.config.ts' &&
      !path.startsWith('tools/') &&
      !path.startsWith('bench/'),
    finds: ({ text }) => /\bprocess\.env\b/.test(text),
    planted: { path: 'app/x.ts', text: 'const home = process.env.HOME' },
  },
  {
    name: 'zod stays at the edges',
    applies: isSource,
    finds: ({ path, text }) => /from 'zod'/.test(text) && !zodHomes.test(path),
    planted: { path: 'queue/x.ts', text: "import { z } from 'zod'" },
  },
  {
    name: 'the words decide without clock, chance or disk',
    applies: path => path.startsWith('domain/'),
    finds: ({ text }) =>
      /Date\.now|new Date\(\)|Math\.random|randomUUID|randomBytes|node:fs|node:net|node:http|node:child_process/.test(text),
    planted: { path: 'domain/x.ts', text: 'const at = Date.now()' },
  },
  {
    name: 'a limit stands in the limits.ts of its folder, from which the list is made',
    applies: path => /^(?:worker|app|effects|git|telemetry|ledger|queue)\/[^/]+\.ts$/.test(path) && !path.endsWith('/limits.ts'),
    finds: ({ text }) => /^(?:export )?const \w+(?:Max|Min|Ms|Default) = [\d_ *]+$/m.test(text),
    planted: { path: 'git/x.ts', text: '\nconst waitMsMax = 5_000\n' },
  },
  {
    name: 'no module is mocked',
    applies: isTest,
    finds: ({ text }) => /\bvi\.(?:mock|doMock)\(/.test(text),
    planted: { path: 'test/app/x.test.ts', text: ['vi', "mock('../x.ts')"].join('.') },
  },
  {
    name: 'no test is switched off',
    applies: isTest,
    finds: ({ text }) => /\b(?:it|test|describe)\.(?:skip|only|todo)\b/.test(text),
    planted: { path: 'test/app/x.test.ts', text: ['test', "skip('later', () => {})"].join('.') },
  },
]

/** `rule name|path`: why it may stand there. */
export const exceptions: Readonly<Record<string, string>> = {
  'the environment is read in one file|simulator/github/repository-git.ts':
    "the fake's git needs the machine's PATH; it is no part of the product",
}

/** Hazards and attacks that hold. One stays here once it holds; its tests carry its id in their names. */
export const settled = `
  A01 A02 A03 A04 A05 A06 A07 A08 A09 A10 B01 B02 B03 B04 B05 B06 B07 B09 B11 B12 C04 C05 C06 C08 C09 C10 C11 C12 C13 C14 D01 D02
  D03 D04 D05 D06 D07 D08 D09 D10 D11 D12 F05 Q01 Q02 Q03 Q04 Q05 Q06 Q07 Q09 Q10 Q11 Q12 Q14 Q15 Q16 Q18 Q19 Q20 Q22 Q26 Q27 Q28
  Q29 Q31 Q32 Q33 Q34 Q35 Q37 Q38 Q40 Q41 Q42 Q43 Q47 Q49 Q50 Q51 Q52 Q54 Q55 Q66 Q67 Q69 Q70 Q72 Q73 Q76 Q77 Q78 Q80 Q81 Q82 Q83
  Q84 Q87 Q89 Q91 Q94 Q97
`
  .trim()
  .split(/\s+/)
