import { createHash, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Person } from './commit-facts.ts'
import { rememberAnswer } from './git-memory.ts'
import { git, runGit } from './repository-git.ts'
import type { Account, GitHubState, Repository } from './state.ts'

export async function makeBlob(folder: string, content: Buffer): Promise<string> {
  return git(folder, ['hash-object', '-t', 'blob', '-w', '--stdin'], { input: content })
}

export type TreeEntry = { path: string; mode: string; sha: string | null }
export type MadeTree = { kind: 'made'; sha: string } | { kind: 'refused'; message: string }

const noObject = '0'.repeat(40)

/** The tree of `base` with these entries put in; one without an object takes the path away. */
export async function makeTree(folder: string, base: string | null, entries: readonly TreeEntry[]): Promise<MadeTree> {
  const index = join(folder, `index-${randomBytes(6).toString('hex')}`)
  const env = { GIT_INDEX_FILE: index }
  try {
    await git(folder, base === null ? ['read-tree', '--empty'] : ['read-tree', base], { env })
    const present = base === null ? [] : await listTree(folder, base)
    const lines: string[] = []
    for (const { path, mode, sha } of entries) {
      const below = present.filter(each => each === path || each.startsWith(`${path}/`))
      if (sha === null && below.length === 0) return { kind: 'refused', message: 'GitRPC::BadObjectState' }
      // Whatever stood at the path, or in a folder of that name, is gone.
      for (const each of below) lines.push(`0 ${noObject}\t${each}`)
      if (sha !== null) lines.push(...(await linesOf(folder, { path, mode, sha })))
    }
    await git(folder, ['update-index', '-z', '--index-info'], { env, input: lines.map(line => `${line}\0`).join('') })
    return { kind: 'made', sha: await git(folder, ['write-tree'], { env }) }
  } finally {
    await rm(index, { force: true })
  }
}

function listTree(folder: string, tree: string): Promise<string[]> {
  return rememberAnswer(['tree', folder, tree], async () => {
    return (await git(folder, ['ls-tree', '-r', '-z', '--name-only', tree])).split('\0').filter(path => path !== '')
  })
}

async function linesOf(folder: string, { path, mode, sha }: { path: string; mode: string; sha: string }): Promise<string[]> {
  if (mode !== '040000') return [`${mode} ${sha}\t${path}`]
  const listed = await git(folder, ['ls-tree', '-r', '-z', '--format=%(objectmode) %(objectname)%x09%(path)', sha])
  return listed
    .split('\0')
    .filter(line => line !== '')
    .map(line => line.replace('\t', `\t${path}/`))
}

/** The kinds of these objects, in their order; null for what is not there. */
export async function typesOf(folder: string, shas: readonly string[]): Promise<(string | null)[]> {
  if (shas.length === 0) return []
  // One line a question: what holds a break is no name of an object.
  const input = shas.map(sha => `${sha.replace(/\s/g, '?')}\n`).join('')
  const { stdout } = await runGit(folder, ['cat-file', '--batch-check=%(objecttype)'], { input })
  const lines = stdout.toString().split('\n')
  return shas.map((_, at) => (/^(?:blob|tree|commit|tag)$/.test(lines[at] ?? '') ? (lines[at] ?? null) : null))
}

type NamedPerson = { [K in keyof Person]?: string | undefined }

export type NewCommit = {
  message: string
  tree: string
  parents: readonly string[]
  author?: NamedPerson | undefined
  committer?: NamedPerson | undefined
  signature?: string | undefined
  actor: Account
  /** GitHub signs what it says itself who made. */
  mayBeSigned: boolean
}

/** Who is not named is the actor, and then the committer is GitHub itself, which signs. */
export async function makeCommit(state: GitHubState, repository: Repository, given: NewCommit): Promise<string> {
  const { actor } = given
  const date = new Date(state.now()).toISOString()
  const own: Person = { name: actor.login, email: `${actor.id}+${actor.login}@users.noreply.localhost`, date }
  const named = (over: NamedPerson): Person => ({
    name: over.name ?? own.name,
    email: over.email ?? own.email,
    date: over.date ?? own.date,
  })
  const author = given.author ? named(given.author) : own
  const committer = given.committer ? named(given.committer) : given.author ? author : { name: 'GitHub', email: 'noreply@localhost', date }
  const head = [
    `tree ${given.tree}`,
    ...given.parents.map(parent => `parent ${parent}`),
    `author ${line(author)}`,
    `committer ${line(committer)}`,
  ]
  const payload = `${head.join('\n')}\n\n${given.message}`
  const signs = given.mayBeSigned && !given.author && !given.committer && given.signature === undefined
  const signature = signs ? ownSignature(payload) : given.signature
  const text =
    signature === undefined ? payload : `${head.join('\n')}\ngpgsig ${signature.trimEnd().replaceAll('\n', '\n ')}\n\n${given.message}`
  const sha = await git(repository.folder, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input: text })
  if (signs) repository.signedCommits.set(sha, state.now())
  return sha
}

function line({ name, email, date }: Person): string {
  return `${name} <${email}> ${Math.floor(Date.parse(date) / 1000)} +0000`
}

/** Nobody can check it, and nobody needs to: which commits are signed is remembered. */
function ownSignature(payload: string): string {
  const text = createHash('sha512').update(payload).digest('base64').replace(/.{64}/g, '$&\n')
  return `-----BEGIN PGP SIGNATURE-----\n\n${text}\n-----END PGP SIGNATURE-----`
}
