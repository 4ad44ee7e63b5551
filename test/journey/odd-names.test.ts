import { expect, onTestFinished, test } from 'vitest'
import { openFixer } from './open-fixer.ts'

/** A name that reads like our way to show a byte: were it taken for one, another file would be looked for. */
const odd = 'a\\x41b.txt'

test('a file that a tool wrote under a name with a backslash belongs to the change, and is shown so that it means itself', {
  timeout: 60_000,
}, async () => {
  const { fix, close } = await openFixer()
  onTestFinished(close)
  const files = {
    'value.txt': '1\n',
    '.github/grok.yml': JSON.stringify({ version: 1, checks: ['test -e "$(printf \'a\\\\x41b.txt\')"'] }),
  }
  const state = await fix(files, [{ toolCalls: [{ name: 'write', arguments: { file_path: odd, content: 'x\n' } }] }, { text: 'Add it' }])
  expect([state.change?.files.map(file => file.path), state.change?.leftOut]).toEqual([['a\\x5cx41b.txt'], []])
})
