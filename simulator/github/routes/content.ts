import type { components } from '@octokit/openapi-types'
import { type Answer, notFound, ok, refused } from '../answer.ts'
import { repositoryApi, repositoryWeb } from '../links.ts'
import { renderCommit } from '../render/commit.ts'
import { git, resolveCommit, runGit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'

/** Above this size GitHub leaves the content of a file out, in bytes. */
const inlineBytesMax = 1024 * 1024

const contents = { anyOf: [['contents', 'read']] } satisfies { anyOf: [string, 'read'][] }

export const contentRoutes = [
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/contents/{path+}',
    permission: contents,
    apply: call => readContent(call, call.params.path),
  }),
  route({ method: 'GET', path: '/repos/{owner}/{repo}/contents', permission: contents, apply: call => readContent(call, '') }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref+}',
    permission: contents,
    apply: async call => {
      const sha = await resolveCommit(call.repository.folder, call.params.ref)
      if (!sha) return refused(422, `No commit found for SHA: ${call.params.ref}`)
      return ok(await renderCommit(call, sha))
    },
  }),
]

type RepoCall = Call<'{repo}'>

async function readContent(call: RepoCall, path: string): Promise<Answer> {
  const { folder, defaultBranch } = call.repository
  const ref = call.query.get('ref') ?? defaultBranch
  const commit = await resolveCommit(folder, ref)
  if (!commit)
    return call.query.get('ref') === null ? refused(404, 'This repository is empty.') : refused(404, `No commit found for the ref ${ref}`)
  const clean = path.replace(/^\/+|\/+$/g, '')
  if (clean === '') return ok(await listFolder(call, commit, '', ref))
  const entry = await findEntry(folder, commit, clean)
  if (!entry) return notFound()
  if (entry.type === 'tree') return ok(await listFolder(call, commit, `${clean}/`, ref))
  const { stdout } = entry.type === 'blob' ? await runGit(folder, ['cat-file', 'blob', entry.sha]) : { stdout: Buffer.alloc(0) }
  if (/application\/vnd\.github(?:\.v3)?\.raw/.test(call.accept)) {
    return { status: 200, text: stdout, headers: { 'content-type': 'application/vnd.github.raw; charset=utf-8' } }
  }
  const inline = stdout.length <= inlineBytesMax
  const base64 = stdout.toString('base64').replace(/(.{60})/g, '$1\n')
  if (entry.mode === '120000') return ok({ ...renderEntry(call, entry, ref), target: stdout.toString() })
  return ok({ ...renderEntry(call, entry, ref), content: inline ? `${base64}\n` : '', encoding: inline ? 'base64' : 'none' })
}

export async function findEntry(folder: string, commit: string, path: string): Promise<Entry | undefined> {
  const listing = await git(folder, ['ls-tree', '-z', '--long', commit, '--', `:(literal)${path}`])
  return listing
    .split('\0')
    .flatMap(line => parseEntry(line) ?? [])
    .find(each => each.path === path)
}

async function listFolder(call: RepoCall, commit: string, prefix: string, ref: string) {
  const listing = await git(call.repository.folder, ['ls-tree', '-z', '--long', commit, '--', ...(prefix === '' ? [] : [prefix])])
  return listing.split('\0').flatMap(line => {
    const entry = parseEntry(line)
    return entry ? [renderEntry(call, entry, ref)] : []
  })
}

type Entry = { mode: string; type: string; sha: string; size: number; path: string }

function parseEntry(line: string): Entry | null {
  const tab = line.indexOf('\t')
  if (tab < 0) return null
  const [mode = '', type = '', sha = '', size = '0'] = line.slice(0, tab).split(/ +/)
  return { mode, type, sha, size: Number(size) || 0, path: line.slice(tab + 1) }
}

export function renderEntry({ links, repository }: RepoCall, entry: Entry, ref: string) {
  const api = repositoryApi(links, repository)
  const web = repositoryWeb(links, repository)
  const kind = entry.type === 'tree' ? 'dir' : entry.type === 'commit' ? 'submodule' : entry.mode === '120000' ? 'symlink' : 'file'
  const self = `${api}/contents/${entry.path}?ref=${ref}`
  const object = `${api}/git/${entry.type}s/${entry.sha}`
  const html = `${web}/${kind === 'dir' ? 'tree' : 'blob'}/${ref}/${entry.path}`
  return {
    type: kind,
    size: entry.size,
    name: entry.path.split('/').at(-1) ?? '',
    path: entry.path,
    sha: entry.sha,
    url: self,
    git_url: object,
    html_url: html,
    download_url: kind === 'file' ? `${web}/raw/${ref}/${entry.path}` : null,
    _links: { self, git: object, html },
  } satisfies components['schemas']['content-directory'][number]
}
