import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readKeys } from '../../cli/read-keys.ts'
import { dayBudgets, findChainFault, type RecordedEvent, verifyBundle } from '../../domain/index.ts'
import type { Evidence, TaskEvidence, Thing } from './evidence.ts'
import { leftAfterAll, repo, type Stage } from './stage.ts'

/** More tasks than any stage has. */
const tasksMax = 100

/** Takes down all that a run left, at the fakes, in the ledger and on the machine. */
export async function gatherEvidence(stage: Stage, { calmAt, disturbances }: Pick<Evidence, 'calmAt' | 'disturbances'>): Promise<Evidence> {
  const { simulator, ledger } = stage
  const rows = await ledger.tasks({ limit: tasksMax })
  const tasks = await Promise.all(rows.map(({ taskId, needsWorker }) => taskEvidence(stage, taskId, needsWorker)))
  const { requests } = simulator.github.state
  const chats = simulator.model.requests.filter(request => request.path.endsWith('/chat/completions'))
  return structuredClone({
    takenAt: Date.now(),
    calmAt,
    disturbances,
    asked: askedOf(stage),
    requests: requests.map(({ at, method, url, status, attempt }) => ({ at, method, url, status, attempt })),
    things: thingsOf(stage),
    branches: await branchesOf(stage),
    pushes: pushesOf(stage),
    modelRequests: chats.map(({ at, bodyHash }) => ({ at, hash: bodyHash })),
    tasks,
    reserved: await reservedOf(stage, tasks),
    openOwners: await ledger.runningOwners(),
    leftovers: [...(await leftAfterAll(stage)), ...runFolders(stage), ...workTrees(stage)],
  })
}

async function taskEvidence(stage: Stage, taskId: string, needsWorker: boolean): Promise<TaskEvidence> {
  const { entries } = await stage.ledger.readRecord(taskId)
  const fault = findChainFault(
    taskId,
    entries.map(({ header }) => header),
  )
  return {
    taskId,
    needsWorker,
    events: await stage.ledger.readEvents(taskId),
    chainFault: fault ? `broken at ${fault.seq}` : null,
    bundle: needsWorker ? await bundleOf(stage, taskId) : 'missing',
    hasPatch: existsSync(path.join(stage.dataDir, 'tasks', taskId, 'change.patch')),
    runs: stage.runCounts(taskId),
  }
}

/** With the installation's own key, and with a head that the ledger has: a late effect may have come after it. */
async function bundleOf({ dataDir, ledger }: Stage, taskId: string): Promise<TaskEvidence['bundle']> {
  const file = path.join(dataDir, 'tasks', taskId, 'bundle.json')
  if (!existsSync(file)) return 'missing'
  const verification = verifyBundle(readFileSync(file), await readKeys(path.join(dataDir, 'keys', 'public')))
  if (verification.kind === 'fault' || verification.signed !== 'trusted') return 'does not verify'
  const { entries } = await ledger.readRecord(taskId)
  return entries.some(({ header }) => header.hash === verification.bundle.manifest.headHash) ? 'verifies' : 'does not verify'
}

/** What the deliveries that carried a command were answered with; one is accepted when any of its deliveries was. */
function askedOf({ simulator }: Stage): Evidence['asked'] {
  const answers = simulator.github.state.deliveries.flatMap(({ body, statusCode }) => {
    const { comment } = JSON.parse(body.toString()) as { comment?: { id: number; body: string } }
    return comment?.body.startsWith('/grok') ? [{ commentId: comment.id, accepted: statusCode >= 200 && statusCode < 300 }] : []
  })
  const ids = new Set(answers.map(({ commentId }) => commentId))
  return [...ids].map(commentId => ({ commentId, accepted: answers.some(each => each.commentId === commentId && each.accepted) }))
}

function thingsOf({ simulator }: Stage): Thing[] {
  const repository = simulator.github.state.repositories.get(repo)
  if (!repository) return []
  const { comments, reviews, reviewComments, issues, checkRuns } = repository
  const [said, remarks] = [[...comments.values()], [...reviewComments.values()]]
  const onDiff = (each: (typeof remarks)[number]) =>
    each.inReplyTo === null ? `${each.path}:${each.original.line}` : `thread ${each.inReplyTo}`
  const pulls = [...issues.values()].filter(({ pull, author }) => pull !== null && isOurs(author))
  return [
    ...said
      .filter(({ author }) => isOurs(author))
      .map(each => ({ ...thing('comment', each.id, `#${each.issueNumber}`), ...lastOf(each.versions) })),
    ...remarks
      .filter(({ author }) => isOurs(author))
      .map(each => ({ ...thing('reply', each.id, onDiff(each)), body: each.body, at: each.updatedAt })),
    // A reply is a review of its own, with nothing in it.
    ...[...reviews.values()]
      .filter(({ author, body }) => isOurs(author) && body !== '')
      .map(each => ({ ...thing('review', each.id, `#${each.issueNumber}`), body: each.body, at: each.createdAt })),
    ...pulls.map(each => ({ ...thing('pull', each.number, each.pull?.head.ref ?? ''), body: each.body ?? '', at: each.createdAt })),
    ...[...checkRuns.values()].map(each => ({
      ...thing('check-run', each.id, each.name),
      body: `${each.externalId} ${each.status} ${each.conclusion}`,
      at: each.completedAt ?? each.startedAt,
    })),
    ...[...said, ...remarks].flatMap(({ id, reactions }) =>
      reactions
        .filter(({ actor }) => isOurs(actor))
        .map(each => ({ ...thing('reaction', each.id, `comment ${id}`), body: each.content, at: each.createdAt })),
    ),
  ]
}

const isOurs = (author: { login: string } | null) => author?.login.endsWith('[bot]') ?? false
const thing = <K extends Thing['kind']>(kind: K, id: number, target: string) => ({ kind, id, target })
const lastOf = (versions: { at: number; body: string }[]) => ({ body: versions.at(-1)?.body ?? '', at: versions.at(-1)?.at ?? 0 })

async function branchesOf({ simulator }: Stage): Promise<Record<string, string>> {
  const refs = Object.entries(await simulator.github.refs(repo))
  return Object.fromEntries(refs.flatMap(([ref, sha]) => (ref.startsWith('refs/heads/') ? [[ref.slice('refs/heads/'.length), sha]] : [])))
}

/** From git's own log of its references, which the stage has switched on; what people commit there has no such message. */
function pushesOf({ simulator }: Stage): Evidence['pushes'] {
  const folder = simulator.github.state.repositories.get(repo)?.folder ?? ''
  const logs = path.join(folder, 'logs', 'refs', 'heads')
  const files = existsSync(logs) ? readdirSync(logs, { recursive: true, withFileTypes: true }).filter(each => each.isFile()) : []
  return files.flatMap(({ parentPath, name }) => {
    const branch = path.relative(logs, path.join(parentPath, name))
    const lines = readFileSync(path.join(parentPath, name), 'utf8').split('\n')
    return lines.flatMap(line => {
      const [, sha = ''] = line.split(' ')
      if (!/\tpush/.test(line)) return []
      return [{ branch, sha, tree: execFileSync('git', ['-C', folder, 'rev-parse', `${sha}^{tree}`], { encoding: 'utf8' }).trim() }]
    })
  })
}

async function reservedOf({ ledger }: Stage, tasks: readonly TaskEvidence[]): Promise<Record<string, number>> {
  const keys = new Set(tasks.flatMap(({ events: [first] }) => budgetKeys(first)))
  return Object.fromEntries(await Promise.all([...keys].map(async key => [key, (await ledger.budget(key)).reservedMicroUsd])))
}

function budgetKeys(first: RecordedEvent | undefined): string[] {
  if (first?.type !== 'task.accepted' || first.payload === null) return []
  const of = { repositoryId: first.payload.repository.id, actorId: first.payload.requester.id, at: first.at }
  const limits = { repositoryDayMicroUsd: null, actorDayMicroUsd: null }
  return dayBudgets({ ...of, reserveMicroUsd: 0, limits }).budgets.map(({ key }) => key)
}

export function runFolders({ dataDir }: Pick<Stage, 'dataDir'>): string[] {
  return existsSync(path.join(dataDir, 'runs')) ? readdirSync(path.join(dataDir, 'runs')) : []
}

/** What git itself would list as a second work tree of one of our repositories. */
function workTrees({ dataDir }: Stage): string[] {
  const folders = readdirSync(dataDir, { recursive: true, withFileTypes: true })
  return folders
    .filter(each => path.basename(each.parentPath) === 'worktrees')
    .map(each => `work tree ${path.join(each.parentPath, each.name)}`)
}
