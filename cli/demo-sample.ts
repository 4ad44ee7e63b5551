import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ModelScript } from '../simulator/index.ts'

const files: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'parser', version: '1.0.0', private: true, type: 'commonjs', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'README.md': '# parser\n\nSplits `a=1;b=2` into pairs.\n',
  'src/parser.js': [
    'function parse(input) {',
    "  const tokens = input.split(';').filter(token => token !== '')",
    '  const first = tokens[0].trim()',
    "  if (first === '') return []",
    "  return tokens.map(token => token.split('='))",
    '}',
    '',
    'module.exports = { parse }',
    '',
  ].join('\n'),
  'test/parser.test.js': [
    "const assert = require('node:assert')",
    "const { test } = require('node:test')",
    "const { parse } = require('../src/parser.js')",
    '',
    "test('splits pairs', () => assert.deepStrictEqual(parse('a=1;b=2'), [['a', '1'], ['b', '2']]))",
    "test('empty input gives an empty list', () => assert.deepStrictEqual(parse(''), []))",
    '',
  ].join('\n'),
}

/** A small repository with one failing test. */
export async function demoRepository(folder: string): Promise<string> {
  const root = path.join(folder, 'sample')
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.join(root, path.dirname(name)), { recursive: true })
    await writeFile(path.join(root, name), content)
  }
  return root
}

/** What the scripted model does with it: look, reproduce, mend, check, and say so. */
export const demoScript: ModelScript = [
  {
    toolCalls: [
      { name: 'read_file', arguments: { target_file: 'src/parser.js' } },
      { name: 'read_file', arguments: { target_file: 'test/parser.test.js' } },
    ],
  },
  { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'node --test', description: 'reproduce the failure' } }] },
  {
    toolCalls: [
      {
        name: 'write',
        arguments: {
          file_path: 'src/parser.js',
          content: (files['src/parser.js'] ?? '').replace(
            "  const first = tokens[0].trim()\n  if (first === '') return []\n",
            '  if (tokens.length === 0) return []\n',
          ),
        },
      },
    ],
  },
  { toolCalls: [{ name: 'run_terminal_command', arguments: { command: 'node --test', description: 'check the change' } }] },
  {
    text: [
      'Return an empty list for empty input',
      '',
      'Why: `parse()` read `tokens[0]` without asking whether there is a token.',
      'Look first at: `src/parser.js` line 3.',
      '',
      '`node --test` failed in 1 of 2 tests before the change and passes in both after it.',
    ].join('\n'),
  },
]
