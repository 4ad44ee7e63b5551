import type { components } from '@octokit/openapi-types'
import * as z from 'zod'
import { type Answer, created, forbidden, notFound, ok, refused } from '../answer.ts'
import { readCommits } from '../commit-facts.ts'
import { makeBlob, makeCommit, makeTree, type TreeEntry, typesOf } from '../git-object.ts'
import { nodeId, repositoryApi } from '../links.ts'
import { grants } from '../permission.ts'
import { renderGitCommit } from '../render/commit.ts'
import { git, listRefs, runGit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'
import type { Repository } from '../state.ts'

const contents = (level: 'read' | 'write') => ({ anyOf: [['contents', level]] }) satisfies { anyOf: [string, 'read' | 'write'][] }
const base = '/repos/{owner}/{repo}/git'
/** GitHub lists no more of a tree, in entries. */
const treeEntriesMax = 100_000

const person = z.strictObject({ name: z.string().min(1), email: z.string().min(1), date: z.iso.datetime({ offset: true }).optional() })
const entry = z.strictObject({
  path: z.string().optional(),
  mode: z.enum(['100644', '100755', '040000', '160000', '120000']).optional(),
  type: z.enum(['blob', 'tree', 'commit']).optional(),
  sha: z.string().nullish(),
  content: z.string().optional(),
})
type Entry = z.infer<typeof entry>

export const gitObjectRoutes = [
  route({
    method: 'POST',
    path: `${base}/blobs`,
    permission: contents('write'),
    schema: z.strictObject({ content: z.string(), encoding: z.enum(['utf-8', 'base64']).optional() }),
    apply: async (call, { content, encoding }) => {
      const empty = await emptyRepository(call)
      if (empty) return empty
      const sha = await makeBlob(call.repository.folder, Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8'))
      const url = `${repositoryApi(call.links, call.repository)}/git/blobs/${sha}`
      return created({ sha, url } satisfies components['schemas']['short-blob'], { location: url })
    },
  }),
  route({
    method: 'GET',
    path: `${base}/blobs/{file_sha}`,
    permission: contents('read'),
    apply: async ({ links, repository, params, accept }) => {
      const sha = params.file_sha
      const [type] = await typesOf(repository.folder, [sha])
      if (type !== 'blob') return notFound()
      const { stdout } = await runGit(repository.folder, ['cat-file', 'blob', sha])
      if (/application\/vnd\.github(?:\.v3)?\.raw/.test(accept)) {
        return { status: 200, text: stdout, headers: { 'content-type': 'application/vnd.github.raw; charset=utf-8' } }
      }
      const content = stdout.toString('base64').replace(/(.{60})/g, '$1\n')
      const url = `${repositoryApi(links, repository)}/git/blobs/${sha}`
      return ok({
        sha,
        node_id: nodeId('B', repository.id),
        size: stdout.length,
        url,
        content,
        encoding: 'base64',
      } satisfies components['schemas']['blob'])
    },
  }),
  route({
    method: 'POST',
    path: `${base}/trees`,
    permission: contents('write'),
    schema: z.strictObject({ tree: z.array(entry), base_tree: z.string().optional() }),
    apply: (call, body) => createTree(call, body),
  }),
  route({
    method: 'GET',
    path: `${base}/trees/{tree_sha}`,
    permission: contents('read'),
    apply: async call => {
      const tree = await treeOf(call, call.params.tree_sha)
      return tree === null ? notFound() : ok(await renderTree(call, tree, call.query.has('recursive')))
    },
  }),
  route({
    method: 'POST',
    path: `${base}/commits`,
    permission: contents('write'),
    schema: z.strictObject({
      message: z.string(),
      tree: z.string(),
      parents: z.array(z.string()).optional(),
      author: person.optional(),
      committer: person.partial().optional(),
      signature: z.string().optional(),
    }),
    apply: async (call, { tree, parents = [], ...body }) => {
      const { state, repository, actor, token } = call
      const { folder } = repository
      if (!actor) return forbidden()
      const empty = await emptyRepository(call)
      if (empty) return empty
      const [type, ...types] = await typesOf(folder, [tree, ...parents])
      if (type !== 'tree') return refused(422, 'Tree SHA does not exist')
      if (types.some(each => each !== 'commit')) return refused(422, 'Parent SHA does not exist or is not a commit object')
      const mayBeSigned = token?.kind === 'installation'
      const sha = await makeCommit(state, repository, { ...body, tree, parents, actor, mayBeSigned })
      const [facts] = await readCommits(folder, [sha])
      if (!facts) throw new Error(`the commit ${sha} was made and is not there`)
      const json = renderGitCommit(call, facts)
      return created(json, { location: json.url })
    },
  }),
  route({
    method: 'GET',
    path: `${base}/commits/{commit_sha}`,
    permission: contents('read'),
    apply: async call => {
      const { folder } = call.repository
      const [type] = await typesOf(folder, [call.params.commit_sha])
      if (type !== 'commit') return notFound()
      const [facts] = await readCommits(folder, [call.params.commit_sha])
      return facts ? ok(renderGitCommit(call, facts)) : notFound()
    },
  }),
]

type RepoCall = Call<'{repo}'>

/** Repositories that have had a commit: their default branch can not be deleted, so they stay so. */
const begun = new WeakSet<Repository>()

async function emptyRepository({ repository }: RepoCall): Promise<Answer | null> {
  if (begun.has(repository)) return null
  if ((await listRefs(repository.folder, 'refs/heads/')).length === 0) return refused(409, 'Git Repository is empty.')
  begun.add(repository)
  return null
}

/** A tree by its own name or by that of a commit or a branch. */
async function treeOf({ repository }: RepoCall, name: string): Promise<string | null> {
  const found = await runGit(repository.folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{tree}`])
  return found.exitCode === 0 ? found.stdout.toString().trim() : null
}

async function createTree(call: RepoCall, body: { tree: Entry[]; base_tree?: string | undefined }): Promise<Answer> {
  const { repository, token } = call
  const empty = await emptyRepository(call)
  if (empty) return empty
  const baseTree = body.base_tree === undefined ? null : await treeOf(call, body.base_tree)
  if (body.base_tree !== undefined && baseTree === null) return refused(422, 'base_tree is not a valid tree oid')
  if (body.tree.length === 0) return refused(422, 'Invalid tree info')
  const mayWorkflows = token?.kind !== 'installation' || grants(token.permissions, 'workflows', 'write')
  const entries: TreeEntry[] = []
  for (const each of body.tree) {
    const read = await readEntry(repository.folder, each)
    if (typeof read === 'string') return refused(422, read)
    if (!mayWorkflows && read.path.startsWith('.github/workflows/')) return forbidden()
    entries.push(read)
  }
  const made = await makeTree(repository.folder, baseTree, entries)
  if (made.kind === 'refused') return refused(422, made.message)
  const json = await renderTree(call, made.sha, false)
  return created(json, { location: json.url })
}

const kinds: Record<string, string> = { '040000': 'tree', '160000': 'commit' }

/** The entry, or what GitHub finds wrong with it. */
async function readEntry(folder: string, { path, mode, sha, content }: Entry): Promise<TreeEntry | string> {
  const parts = path?.split('/') ?? []
  if (path === undefined || parts.some(part => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git'))
    return 'tree.path contains a malformed path component'
  if (mode === undefined) return 'Must supply a valid tree.mode'
  if ((sha === undefined) === (content === undefined)) return 'Must supply either tree.sha or tree.content'
  if (content !== undefined) return { path, mode, sha: await makeBlob(folder, Buffer.from(content)) }
  const kind = kinds[mode] ?? 'blob'
  // A submodule's commit is in another repository.
  const [type] = sha && kind !== 'commit' ? await typesOf(folder, [sha]) : [kind]
  if (type !== kind) return `tree.sha ${sha} is not a valid ${kind}`
  return { path, mode, sha: sha ?? null }
}

async function renderTree({ links, repository }: RepoCall, sha: string, recursive: boolean) {
  const api = repositoryApi(links, repository)
  const format = '--format=%(objectmode) %(objecttype) %(objectname) %(objectsize)%x09%(path)'
  const listed = await git(repository.folder, ['ls-tree', ...(recursive ? ['-r', '-t'] : []), '-z', format, sha])
  const lines = listed.split('\0').filter(line => line !== '')
  const tree = lines.slice(0, treeEntriesMax).map(line => {
    const tab = line.indexOf('\t')
    const [mode = '', type = '', object = '', size = ''] = line.slice(0, tab).split(' ')
    const url = type === 'commit' ? {} : { url: `${api}/git/${type}s/${object}` }
    return { path: line.slice(tab + 1), mode, type, sha: object, ...(type === 'blob' ? { size: Number(size) } : {}), ...url }
  })
  return { sha, url: `${api}/git/trees/${sha}`, tree, truncated: lines.length > treeEntriesMax } satisfies components['schemas']['git-tree']
}
