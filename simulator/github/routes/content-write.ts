import * as z from 'zod'
import { type Answer, created, forbidden, ok, refused } from '../answer.ts'
import { readCommits } from '../commit-facts.ts'
import { makeBlob, makeCommit, makeTree } from '../git-object.ts'
import { refuseRef, ruleViolations } from '../ref-rules.ts'
import { renderGitCommit } from '../render/commit.ts'
import { git, readRef, runGit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'
import { syncPulls } from '../sync-pulls.ts'
import { findEntry, renderEntry } from './content.ts'

const path = '/repos/{owner}/{repo}/contents/{path+}'
const person = z.strictObject({ name: z.string(), email: z.string(), date: z.string().optional() })
const Write = z.strictObject({
  message: z.string(),
  content: z.string(),
  sha: z.string().optional(),
  branch: z.string().optional(),
  committer: person.optional(),
  author: person.optional(),
})
type Write = z.infer<typeof Write>

export const contentWriteRoutes = [
  route({
    method: 'PUT',
    path,
    permission: { anyOf: [['contents', 'write']] },
    schema: Write,
    apply: (call, body) => writeFile(call, body),
  }),
]

type WriteCall = Call<typeof path>

/** One file, one commit, on a branch that is there. What is replaced must be named by its blob. */
async function writeFile(call: WriteCall, body: Write): Promise<Answer> {
  const { repository, params, actor, token } = call
  const { folder } = repository
  if (!actor) return forbidden()
  const branch = body.branch ?? repository.defaultBranch
  const tip = await readRef(folder, `refs/heads/${branch}`)
  if (!tip) return refused(404, `Branch ${branch} not found`)
  const present = await findEntry(folder, tip, params.path)
  if (present && body.sha === undefined) return refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
  if (body.sha !== undefined && present?.sha !== body.sha) return refused(409, `${params.path} does not match ${body.sha}`)
  const blob = await makeBlob(folder, Buffer.from(body.content, 'base64'))
  const tree = await makeTree(folder, tip, [{ path: params.path, mode: present?.mode ?? '100644', sha: blob }])
  if (tree.kind === 'refused') return refused(422, tree.message)
  const { message, author, committer } = body
  const wish = { message, author, committer, tree: tree.sha, parents: [tip], actor, mayBeSigned: true }
  const sha = await makeCommit(call.state, repository, wish)
  const refusal = await refuseRef(repository, token, { ref: `refs/heads/${branch}`, old: tip, next: sha })
  if (refusal?.by === 'workflows') return refused(403, refusal.reasons.join('\n'))
  if (refusal?.by === 'ruleset') return refused(409, ruleViolations(refusal.reasons))
  if (refusal) return refused(409, `Could not ${present ? 'update' : 'create'} file: ${refusal.reasons.join('\n')}`)
  // Somebody may have pushed meanwhile, past this process.
  if ((await runGit(folder, ['update-ref', `refs/heads/${branch}`, sha, tip])).exitCode !== 0) {
    return refused(409, `is at ${await git(folder, ['rev-parse', `refs/heads/${branch}`])} but expected ${tip}`)
  }
  await syncPulls(call.state, repository, actor)
  const [[facts], entry] = await Promise.all([readCommits(folder, [sha]), findEntry(folder, sha, params.path)])
  if (!facts || !entry) throw new Error(`the file ${params.path} was written and is not there`)
  const json = { content: renderEntry(call, entry, branch), commit: renderGitCommit(call, facts) }
  return present ? ok(json) : created(json)
}
