import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readKeys } from '../../cli/read-keys.ts'
import { type TaskState, verifyBundle } from '../../domain/index.ts'
import { startRedis } from '../queue/redis.ts'
import { type Scene, sampleFiles, scenes } from './scenes.ts'
import { chainFault, leftProcesses, openStage, type Server, type Stage, waitForEnd } from './stage.ts'

/** One kill and what was found afterwards, counted from the fake GitHub's, the fake model's and the ledger's records. */
export type CrashRow = {
  point: string
  /** Whether the process died there; a point the road does not pass is a hole in the table. */
  died: boolean
  outcome: string
  reason: string
  attempts: number
  pulls: number
  branches: number
  eyes: number
  comments: number
  /** Answers of ours in threads of a diff, and reviews of ours with their state. */
  replies: number
  reviews: string
  /** Check runs with how they stand. */
  checkRuns: string
  /** Requests made again although their answer was recorded before. Must be 0. */
  repeatedAnswers: number
  /** Requests made again because a crash cut them off: at most 1 a crash. */
  reasked: number
  /** Commands that ran again although their result was recorded. Must be 0. */
  repeatedRuns: number
  chain: string
  leaks: string[]
  /** It is there, signed, and verifies. */
  bundle: boolean
  recoveryMs: number
  expected: Expected
}

export type Expected = Pick<CrashRow, 'outcome' | 'pulls' | 'branches' | 'eyes' | 'comments' | 'bundle'> &
  Partial<Pick<CrashRow, 'replies' | 'reviews' | 'checkRuns'>>

const endWallMs = 60_000

/** `serve`: one process, which is started again. `distributed`: an app and a worker with Redis; another of the kind that died goes on. */
export type Form = 'serve' | 'distributed'

/** Kills a process at `point` (none = the undisturbed twin), starts another, and takes stock once the task has ended. */
export async function runCrash(point: string | null, scene: Scene = scenes.fix, form: Form = 'serve'): Promise<CrashRow> {
  const redis = form === 'distributed' ? await startRedis() : null
  const stage = await openStage({
    script: scene.script,
    files: sampleFiles,
    operator: scene.operator,
    ...(scene.issueAuthor ? { issueAuthor: scene.issueAuthor } : {}),
    ...(scene.pull ? { pull: scene.pull } : {}),
    ...(redis ? { redisUrl: redis.url } : {}),
  })
  try {
    const processes = await startAll(stage, form, point ?? undefined)
    await scene.play(stage)
    const dead = await Promise.race([
      ...processes.map(each => each.server.exited.then(() => each)),
      waitForEnd(stage.ledger, endWallMs).then(() => lateDeath(processes)),
    ])
    const killedAt = Date.now()
    if (dead) await dead.again()
    if (dead) await redeliver(stage)
    const state = await waitForEnd(stage.ledger, endWallMs)
    await settled(stage)
    return { ...(await takeStock(point ?? 'none', dead !== null, killedAt, state, stage)), expected: scene.expected }
  } finally {
    await stage.close()
    await redis?.stop()
  }
}

type Started = { server: Server; again(): Promise<Server> }

async function startAll(stage: Stage, form: Form, point: string | undefined): Promise<Started[]> {
  if (form === 'serve') return [{ server: await stage.serve(point), again: () => stage.serve() }]
  // Both are armed: which of the two passes the point is the point's own business.
  const app = await stage.start('app', point)
  const worker = await stage.start('worker', point)
  return [
    { server: app, again: () => stage.start('app') },
    { server: worker, again: () => stage.start('worker') },
  ]
}

/** Some places lie behind the recorded outcome: a process that is to die there gets a moment for it. */
async function lateDeath(processes: readonly Started[]): Promise<Started | null> {
  return await Promise.race([...processes.map(each => each.server.exited.then(() => each)), sleep(lateDeathMs).then(() => null)])
}

const lateDeathMs = 4_000

/** GitHub sends a failed delivery again when it is asked to; a kill before the answer left is such a failure. */
async function redeliver(stage: Stage): Promise<void> {
  const failed = stage.simulator.github.state.deliveries.filter(delivery => delivery.statusCode === 0 || delivery.statusCode >= 400)
  if (failed.length > 0 && (await stage.ledger.tasks({ limit: 1 })).length === 0) await stage.redeliver()
}

/** The outcome is recorded before the last tidying; that has a moment of its own. */
async function settled(stage: Stage): Promise<void> {
  for (const until = Date.now() + 5_000; Date.now() < until; await sleep(25)) {
    if (
      runFolders(stage).length === 0 &&
      leftProcesses(stage).length === 0 &&
      (await openOfApp(stage, 'in-flight')) + (await openOfApp(stage, 'unknown')) === 0
    )
      return
  }
}

async function openOfApp({ ledger }: Stage, states: 'in-flight' | 'unknown'): Promise<number> {
  return (await ledger.openEffects({ attempt: 'app', states, updatedBefore: Date.now() + 1, limit: 1 })).length
}

async function takeStock(
  point: string,
  died: boolean,
  killedAt: number,
  state: TaskState | null,
  stage: Stage,
): Promise<Omit<CrashRow, 'expected'>> {
  const { github } = stage.simulator
  const repository = github.state.repositories.get('octo/parser')
  const issues = [...(repository?.issues.values() ?? [])]
  const refs = Object.keys(await github.refs('octo/parser'))
  const { repeatedAnswers, reasked } = await repeats(stage)
  const fault = await chainFault(stage.ledger)
  const [task] = await stage.ledger.tasks({ needsWorker: true, limit: 1 })
  const attempts = state?.attempts ?? []
  return {
    point,
    died,
    outcome: state?.outcome?.outcome ?? 'none',
    reason: state?.outcome?.reason ?? '',
    attempts: attempts.length,
    pulls: issues.filter(issue => issue.pull).length,
    branches: refs.filter(ref => ref.startsWith('refs/heads/grok/')).length,
    eyes: eyesOf(stage),
    comments: [...(repository?.comments.values() ?? [])].filter(comment => comment.author?.login.endsWith('[bot]')).length,
    ...remarksOf(stage),
    repeatedAnswers,
    reasked,
    repeatedRuns: repeatedRuns(state, stage.runCounts()),
    chain: fault ? `broken at ${fault.seq}` : 'ok',
    leaks: [...leftProcesses(stage), ...runFolders(stage)],
    bundle: task !== undefined && (await bundleVerifies(stage, task.taskId)),
    recoveryMs: (attempts.at(-1)?.at ?? killedAt) - killedAt,
  }
}

/** With the installation's own key, and with a head that the ledger has: a late effect may have come after it. */
async function bundleVerifies({ dataDir, ledger }: Stage, taskId: string): Promise<boolean> {
  const file = path.join(dataDir, 'tasks', taskId, 'bundle.json')
  if (!existsSync(file)) return false
  const verification = verifyBundle(readFileSync(file), await readKeys(path.join(dataDir, 'keys', 'public')))
  if (verification.kind === 'fault') throw new Error(`the bundle has a fault: ${verification.fault.message}`)
  const { entries } = await ledger.readRecord(taskId)
  return verification.signed === 'trusted' && entries.some(({ header }) => header.hash === verification.bundle.manifest.headHash)
}

function remarksOf({ simulator }: Stage): Pick<CrashRow, 'replies' | 'reviews' | 'checkRuns'> {
  const { reviews, reviewComments, checkRuns } = simulator.github.state.repositories.get('octo/parser') ?? {}
  const isOurs = ({ author }: { author: { login: string } | null }) => author?.login.endsWith('[bot]') ?? false
  return {
    replies: [...(reviewComments?.values() ?? [])].filter(each => isOurs(each) && each.inReplyTo !== null).length,
    // A reply is a review of its own, with nothing in it.
    reviews: [...(reviews?.values() ?? [])].flatMap(each => (isOurs(each) && each.body !== '' ? [each.state] : [])).join(),
    checkRuns: [...(checkRuns?.values() ?? [])].map(({ status, conclusion }) => `${status} ${conclusion}`).join(),
  }
}

function eyesOf({ simulator }: Stage): number {
  const repository = simulator.github.state.repositories.get('octo/parser')
  return [...(repository?.comments.values() ?? [])].reduce((sum, comment) => sum + comment.reactions.length, 0)
}

function runFolders({ dataDir }: Stage): string[] {
  return existsSync(path.join(dataDir, 'runs')) ? readdirSync(path.join(dataDir, 'runs')) : []
}

/** A request body that came twice: forbidden when its answer was in the ledger before the second one came. */
async function repeats({ simulator, ledger }: Stage): Promise<{ repeatedAnswers: number; reasked: number }> {
  const [task] = await ledger.tasks({ needsWorker: true, limit: 1 })
  const events = task ? await ledger.readEvents(task.taskId) : []
  const answeredAt = new Map<number, number>()
  for (const event of events) if (event.type === 'model.answered' && event.payload) answeredAt.set(event.payload.turn, event.at)
  const seen = new Map<string, number>()
  let repeatedAnswers = 0
  let reasked = 0
  for (const request of simulator.model.requests.filter(request => request.path.endsWith('/chat/completions'))) {
    if (!seen.has(request.bodyHash)) {
      seen.set(request.bodyHash, seen.size + 1)
      continue
    }
    const recorded = answeredAt.get(seen.get(request.bodyHash) ?? 0)
    if (recorded !== undefined && recorded < request.at) repeatedAnswers += 1
    else reasked += 1
  }
  return { repeatedAnswers, reasked }
}

/** A command may run once more for each time its result was lost; the session said "interrupted" about each of those. */
function repeatedRuns(state: TaskState | null, counts: Record<string, number>): number {
  const calls = (state?.session?.turns ?? []).flatMap(turn => turn.calls)
  return Object.entries(counts).reduce((sum, [id, runs]) => {
    const lost = calls.filter(({ call, settled }) => call.arguments.includes(`echo ${id} `) && settled?.status === 'interrupted').length
    return sum + Math.max(0, runs - 1 - lost)
  }, 0)
}

/** What must hold after every kill; the texts are what a failing row is reported with. */
export function faultsOf(row: CrashRow): string[] {
  const expected: Partial<CrashRow> = { ...row.expected, repeatedAnswers: 0, repeatedRuns: 0, chain: 'ok' }
  const faults = Object.entries(expected).flatMap(([name, value]) => {
    const found = row[name as keyof CrashRow]
    return found === value ? [] : [`${name} is ${found}, not ${value}`]
  })
  if (row.reasked > 1) faults.push(`${row.reasked} requests were made again after one crash`)
  if (row.leaks.length > 0) faults.push(`left behind: ${row.leaks.join('; ')}`)
  if (row.point !== 'none' && !row.died) faults.push('the road does not pass this point')
  return faults
}
