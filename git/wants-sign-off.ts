import type { Mirror } from './git.ts'
import { gitLimits } from './limits.ts'
import { readFileAt } from './read-file-at.ts'
import { checkSha } from './ref-name.ts'
import { git } from './run-git.ts'

/** Where the check of the Developer Certificate of Origin is set up. */
const settingsFile = '.github/dco.yml'

/**
 * Whether commits are signed off here: the repository says so, or all of its newest own commits are. Of a few nothing is
 * concluded: a sign-off says something, and is not said because somebody did once.
 */
export async function wantsSignOff(mirror: Mirror, sha: string): Promise<boolean> {
  if ((await readFileAt(mirror, sha, settingsFile)).kind !== 'absent') return true
  const format = '--format=%(trailers:key=Signed-off-by,valueonly,separator=%x2C)'
  const argv = ['log', '-z', '--no-merges', `--max-count=${gitLimits.signedOffMax}`, format, checkSha(sha)]
  const printed = (await git({ gitDir: mirror.path, argv, wallMs: mirror.wallMs })).toString('utf8')
  const signedOff = printed === '' ? [] : printed.replace(/\0$/, '').split('\0')
  return signedOff.length >= gitLimits.signedOffMin && signedOff.every(by => by.trim() !== '')
}
