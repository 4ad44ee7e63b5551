import * as z from 'zod'
import { type Answer, created, forbidden, invalid, ok, refused } from '../answer.ts'
import { paginate } from '../paginate.ts'
import { renderAnnotation, renderCheckRun } from '../render/check-run.ts'
import { resolveCommit } from '../repository-git.ts'
import { type Call, route } from '../route.ts'
import type { CheckRun, GitHubState } from '../state.ts'
import { textOf } from '../text-limit.ts'

/** GitHub's limits, in characters; of the output's two texts also in bytes. */
const outputTextMax = 65_535
const annotationTextMax = 65_536
/** Of one request: later ones add to them. */
const annotationsMax = 50

const date = z.iso.datetime({ offset: true })
const annotation = z.strictObject({
  path: z.string(),
  start_line: z.int().positive(),
  end_line: z.int().positive(),
  start_column: z.int().positive().optional(),
  end_column: z.int().positive().optional(),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  message: textOf(annotationTextMax),
  title: textOf(255).optional(),
  raw_details: textOf(annotationTextMax).optional(),
})
const fields = {
  details_url: z.url().optional(),
  external_id: z.string().optional(),
  status: z.enum(['queued', 'in_progress', 'completed']).optional(),
  started_at: date.optional(),
  // `stale` is GitHub's own.
  conclusion: z.enum(['action_required', 'cancelled', 'failure', 'neutral', 'success', 'skipped', 'timed_out']).optional(),
  completed_at: date.optional(),
  output: z
    .strictObject({
      title: z.string().optional(),
      summary: textOf(outputTextMax),
      text: textOf(outputTextMax).optional(),
      annotations: z.array(annotation).max(annotationsMax).optional(),
    })
    .optional(),
  actions: z
    .array(z.strictObject({ label: textOf(20), description: textOf(40), identifier: textOf(20) }))
    .max(3)
    .optional(),
}
const Creation = z.strictObject({
  name: z.string().min(1),
  head_sha: z.string(),
  ...fields,
  // Only here is the title a must.
  output: fields.output.unwrap().extend({ title: z.string() }).optional(),
})
const Change = z.strictObject({ name: z.string().min(1).optional(), ...fields })
type Change = z.infer<typeof Change>

export const checkRunRoutes = [
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/check-runs',
    permission: { anyOf: [['checks', 'write']] },
    schema: Creation,
    apply: async (call, body) => {
      if (call.token?.kind !== 'installation') return forbidden('You must authenticate via a GitHub App.')
      const sha = await resolveCommit(call.repository.folder, body.head_sha)
      if (sha !== body.head_sha) return refused(422, `No commit found for SHA: ${body.head_sha}`)
      const error = changeError(null, body)
      if (error) return error
      const run = startCheckRun(call.state, body.name, body.head_sha)
      call.repository.checkRuns.set(run.id, run)
      applyChange(call.state, run, body)
      tell(call, run, 'created')
      if (run.status === 'completed') tell(call, run, 'completed')
      return created(renderCheckRun(call.state, call.links, call.repository, run))
    },
  }),
  route({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/check-runs/{check_run_id}',
    permission: { anyOf: [['checks', 'write']] },
    schema: Change,
    apply: (call, body) => {
      const { state, links, repository, checkRun, token } = call
      if (token?.kind !== 'installation') return forbidden('You must authenticate via a GitHub App.')
      const error = changeError(checkRun, body)
      if (error) return error
      const wasDone = checkRun.status === 'completed'
      applyChange(state, checkRun, body)
      if (!wasDone && checkRun.status === 'completed') tell(call, checkRun, 'completed')
      return ok(renderCheckRun(state, links, repository, checkRun))
    },
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/check-runs/{check_run_id}',
    permission: { anyOf: [['checks', 'read']] },
    apply: ({ state, links, repository, checkRun }) => ok(renderCheckRun(state, links, repository, checkRun)),
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations',
    permission: { anyOf: [['checks', 'read']] },
    apply: call =>
      paginate(
        call,
        call.checkRun.output.annotations.map(each => renderAnnotation(call.links, call.repository, call.checkRun, each)),
      ),
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref+}/check-runs',
    permission: { anyOf: [['checks', 'read']] },
    apply: call => listCheckRuns(call),
  }),
]

/** What no schema says: a run that is over has an end, its texts are measured in bytes too, and columns are of one line. */
function changeError(run: CheckRun | null, { status, conclusion, output }: Change): Answer | null {
  if (status === 'completed' && !(conclusion ?? run?.conclusion)) return refused(422, 'Invalid request.\n\n"conclusion" wasn\'t supplied.')
  const tooLong = (['summary', 'text'] as const).find(field => Buffer.byteLength(output?.[field] ?? '') > outputTextMax)
  if (tooLong !== undefined) {
    const message = `${tooLong} exceeds a maximum bytesize of ${outputTextMax}`
    return invalid({ resource: 'CheckRun', code: 'custom', field: tooLong, message })
  }
  for (const each of output?.annotations ?? []) {
    const columns = each.start_column !== undefined || each.end_column !== undefined
    if (each.end_line < each.start_line) return invalid({ resource: 'CheckAnnotation', code: 'invalid', field: 'end_line' })
    if (columns && each.end_line !== each.start_line)
      return invalid({ resource: 'CheckAnnotation', code: 'invalid', field: 'start_column' })
  }
  return null
}

function tell({ state, repository, actor }: Call<'{repo}'>, checkRun: CheckRun, action: 'created' | 'completed'): void {
  state.emit({ event: 'check_run', action, repository, checkRun, sender: actor })
}

async function listCheckRuns(call: Call<'{repo}{ref+}'>) {
  const sha = await resolveCommit(call.repository.folder, call.params.ref)
  if (!sha) return refused(422, `No commit found for SHA: ${call.params.ref}`)
  const [name, status] = [call.query.get('check_name'), call.query.get('status')]
  const matching = [...call.repository.checkRuns.values()].filter(
    run => run.headSha === sha && (!name || run.name === name) && (!status || run.status === status),
  )
  // Without `filter=all` only the newest run of a name is shown.
  const newest = new Map(matching.map(run => [run.name, run]))
  const runs = call.query.get('filter') === 'all' ? matching : [...newest.values()]
  return paginate(call, runs, (page, total_count) => ({
    total_count,
    check_runs: page.map(run => renderCheckRun(call.state, call.links, call.repository, run)),
  }))
}

function startCheckRun(state: GitHubState, name: string, headSha: string): CheckRun {
  const now = state.now()
  const output = { title: null, summary: null, text: null, annotations: [] }
  return {
    id: state.nextId(),
    name,
    headSha,
    externalId: '',
    detailsUrl: null,
    status: 'queued',
    conclusion: null,
    startedAt: now,
    completedAt: null,
    output,
    actions: [],
    createdAt: now,
  }
}

/** Annotations are appended by every update; the rest of the output is replaced. */
function applyChange(state: GitHubState, run: CheckRun, body: Change): void {
  if (body.name !== undefined) run.name = body.name
  if (body.external_id !== undefined) run.externalId = body.external_id
  if (body.details_url !== undefined) run.detailsUrl = body.details_url
  if (body.started_at !== undefined) run.startedAt = Date.parse(body.started_at)
  if (body.status !== undefined) run.status = body.status
  if (body.conclusion !== undefined) {
    run.conclusion = body.conclusion
    run.status = 'completed'
    run.completedAt = body.completed_at === undefined ? state.now() : Date.parse(body.completed_at)
  }
  if (body.output !== undefined) {
    const { title, summary, text, annotations = [] } = body.output
    const added = annotations.map(each => ({ start_column: null, end_column: null, title: null, raw_details: null, ...each }))
    run.output = {
      title: title ?? null,
      summary,
      text: text ?? null,
      annotations: [...run.output.annotations, ...added] as CheckRun['output']['annotations'],
    }
  }
  if (body.actions !== undefined) run.actions = body.actions
}
