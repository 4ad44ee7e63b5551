import { runGit } from './repository-git.ts'

export type Person = { name: string; email: string; date: string }

export type CommitFacts = {
  sha: string
  tree: string
  parents: string[]
  author: Person
  committer: Person
  message: string
  /** The text of the object's `gpgsig`, and what was signed: the object without it. */
  signed: { signature: string; payload: string } | null
}

/** Reads the objects themselves, in the order they were asked for. */
export async function readCommits(folder: string, shas: readonly string[]): Promise<CommitFacts[]> {
  if (shas.length === 0) return []
  const { stdout: bytes } = await runGit(folder, ['cat-file', '--batch'], { input: `${shas.join('\n')}\n` })
  const commits: CommitFacts[] = []
  for (let at = 0; at < bytes.length && commits.length < shas.length; ) {
    const end = bytes.indexOf('\n', at)
    const [sha = '', type, size] = bytes.subarray(at, end).toString().split(' ')
    if (type !== 'commit') throw new Error(`${sha} is no commit`)
    commits.push(parseCommit(sha, bytes.subarray(end + 1, end + 1 + Number(size)).toString()))
    at = end + 1 + Number(size) + 1
  }
  return commits
}

function parseCommit(sha: string, text: string): CommitFacts {
  const end = text.indexOf('\n\n')
  // Lines that go on with a blank belong to the field before them.
  const fields = text
    .slice(0, end)
    .split(/\n(?! )/)
    .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)
  const one = (name: string) => fields.find(each => each[0] === name)?.[1] ?? ''
  const signature = one('gpgsig').replaceAll('\n ', '\n')
  const unsigned = fields.filter(each => each[0] !== 'gpgsig').map(([name, value]) => `${name} ${value}`)
  return {
    sha,
    tree: one('tree'),
    parents: fields.filter(each => each[0] === 'parent').map(each => each[1]),
    author: parsePerson(one('author')),
    committer: parsePerson(one('committer')),
    message: text.slice(end + 2).replace(/\n+$/, ''),
    signed: signature === '' ? null : { signature, payload: `${unsigned.join('\n')}${text.slice(end)}` },
  }
}

function parsePerson(line: string): Person {
  const found = /^(.*) <(.*)> (\d+) [+-]\d{4}$/.exec(line)
  const [, name = '', email = '', seconds = '0'] = found ?? []
  return { name, email, date: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z') }
}
