import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { wantsSignOff } from '../../git/index.ts'
import { openSharedScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  const opened = await openSharedScene()
  scene = opened.scene
  return opened.end
})

const identity = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap(who => [
    [`GIT_${who}_NAME`, 'a'],
    [`GIT_${who}_EMAIL`, 'a@example.org'],
  ]),
)
const git = (input: string, ...argv: string[]) =>
  execFileSync('git', ['--git-dir', scene.store.mirror.path, ...argv], {
    input,
    encoding: 'utf8',
    env: { ...process.env, ...identity },
  }).trim()
const signed = 'Do it\n\nSigned-off-by: A <a@example.org>\n'
/** A history of these messages, oldest first, on a tree with these files. */
function history(messages: readonly string[], files = '') {
  const tree = git(files, 'mktree')
  let tip = ''
  for (const message of messages) tip = git(message, 'commit-tree', tree, ...(tip ? ['-p', tip] : []), '-F', '-')
  return tip
}
const merge = (tip: string) => git('Merge', 'commit-tree', `${tip}^{tree}`, '-p', tip, '-p', `${tip}~1`, '-F', '-')

const settings = () => `040000 tree ${git(`100644 blob ${git('', 'hash-object', '-w', '--stdin')}\tdco.yml\n`, 'mktree')}\t.github\n`

test.each([
  ['five of five are signed off', true, () => history(Array(5).fill(signed))],
  ['four are, and there are no more', false, () => history(Array(4).fill(signed))],
  ['the newest is not', false, () => history([...Array(9).fill(signed), 'Do it\n'])],
  ['one before the newest twenty is not', true, () => history(['Do it\n', ...Array(20).fill(signed)])],
  ['one of the newest twenty is not', false, () => history(['Do it\n', ...Array(19).fill(signed)])],
  ['a merge between is not', true, () => merge(history(Array(6).fill(signed)))],
  ['one only speaks of it', false, () => history([...Array(9).fill(signed), 'Say Signed-off-by: A <a@example.org> below\n\nMore\n'])],
  ['nothing is, and the check is set up', true, () => history(['Do it\n'], settings())],
])('%s: %s', async (_, wanted, make) => {
  expect(await wantsSignOff(scene.store.mirror, make())).toBe(wanted)
})
