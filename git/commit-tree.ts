import type { Store } from './git.ts'
import { checkSha } from './ref-name.ts'
import { git } from './run-git.ts'

export type CommitOptions = {
  store: Store
  tree: string
  parents: readonly string[]
  message: string
  author: { name: string; email: string }
  /** UTC milliseconds; git keeps whole seconds. */
  at: number
}

/** The same arguments always give the same commit, so that an attempt that takes over makes no second one. */
export async function commitTree({ store, tree, parents, message, author, at }: CommitOptions): Promise<string> {
  if (message.includes('\0')) throw new Error('a commit message can not hold NUL')
  const name = identity(author.name)
  const email = identity(author.email)
  // With an @, git takes it for seconds whatever its size.
  const date = `@${Math.floor(at / 1000)} +0000`
  const output = await git({
    gitDir: store.path,
    argv: ['commit-tree', checkSha(tree), ...parents.flatMap(parent => ['-p', checkSha(parent)]), '-F', '-'],
    env: {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: date,
    },
    input: message.endsWith('\n') ? message : `${message}\n`,
    wallMs: store.mirror.wallMs,
  })
  return checkSha(output.toString('utf8').trim())
}

/** Git would drop these silently, and another version other ones: then the commit would not be the same. */
function identity(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end or split an identity line.
  const clean = text.replaceAll(/[<>\x00-\x1f]/g, '').trim()
  if (clean === '') throw new Error('a commit needs an author with a name and an e-mail address')
  return clean
}
