import { setTimeout as sleep } from 'node:timers/promises'
import { foldTask } from '../../domain/index.ts'
import { startRedis } from '../queue/redis.ts'
import { gatherEvidence, runFolders } from './gather-evidence.ts'
import { type Fault, findFaults, reaskedOf } from './oracle.ts'
import { type Scene, sampleFiles, scenes } from './scenes.ts'
import { leftProcesses, openStage, type Server, type Stage, waitForEnd } from './stage.ts'
import type { Form, Way } from './ways.ts'

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
  /** Requests made again because a crash cut them off: at most 1 a crash. */
  reasked: number
  recoveryMs: number
  expected: Expected
  /** What the oracle says. */
  faults: Fault[]
}

export type Expected = Pick<CrashRow, 'outcome' | 'pulls' | 'branches' | 'eyes' | 'comments'> &
  Partial<Pick<CrashRow, 'replies' | 'reviews' | 'checkRuns'>>

const endWallMs = 60_000

/** Kills a process at `point` (none = the undisturbed twin), lets another go on, and takes stock once the task has ended. */
export async function runCrash(point: string | null, scene: Scene = scenes.fix, way: Partial<Way> = {}): Promise<CrashRow> {
  const { form = 'serve', succession = 'restart' } = way
  const redis = form === 'distributed' ? await startRedis() : null
  const stage = await openStage({
    script: scene.script,
    files: scene.files ?? sampleFiles,
    operator: scene.operator,
    ...(scene.issueAuthor ? { issueAuthor: scene.issueAuthor } : {}),
    ...(scene.pull ? { pull: scene.pull } : {}),
    ...(redis ? { redisUrl: redis.url } : {}),
  })
  const over = new AbortController()
  try {
    const processes = await startAll(stage, form, point ?? undefined)
    const deaths = replaceTheDead(processes, succession, over.signal)
    const playing = scene.play(stage)
    if (succession === 'takeover') await standBy(stage, processes)
    await playing
    await Promise.race([deaths.first, waitForEnd(stage.ledger, endWallMs).then(() => Promise.race([deaths.first, sleep(lateDeathMs)]))])
    const calmFrom = Date.now()
    if (deaths.times.length > 0) await redeliver(stage, deaths.replaced)
    await waitForEnd(stage.ledger, endWallMs)
    await settled(stage)
    return { ...(await takeStock(point ?? 'none', deaths.times, calmFrom, stage)), expected: scene.expected }
  } finally {
    over.abort()
    await stage.close()
    await redis?.stop()
  }
}

type Started = { server: Server; again(): Promise<Server> }

async function startAll(stage: Stage, form: Form, point: string | undefined): Promise<Started[]> {
  if (form === 'serve') return [{ server: await stage.serve(point), again: () => stage.serve() }]
  // Both are armed: which of the two passes the point is the point's own business.
  const [app, worker] = await Promise.all([stage.start('app', point), stage.start('worker', point)])
  return [
    { server: app, again: () => stage.start('app') },
    { server: worker, again: () => stage.start('worker') },
  ]
}

/** Once the one that is to die has the task, as nothing else makes sure that it is the one that passes the point. */
async function standBy(stage: Stage, processes: readonly Started[]): Promise<void> {
  await Promise.race([stage.waitForEvent('attempt.started'), ...processes.map(({ server }) => server.exited)])
  await processes.at(-1)?.again()
}

/** Both of two processes may pass the point, the second one after the first was replaced by one that is not armed. */
function replaceTheDead(processes: readonly Started[], succession: Way['succession'], over: AbortSignal) {
  const { promise: first, resolve: died } = Promise.withResolvers<void>()
  const times: number[] = []
  const replacing = processes.map(async each => {
    await each.server.exited
    if (over.aborted) return
    times.push(Date.now())
    died()
    // Only whoever works on tasks has one that stands by.
    if (succession === 'restart' || each !== processes.at(-1)) await each.again()
  })
  // The first replacement is what a delivery can be sent to again.
  return { first, times, replaced: Promise.race(replacing) }
}

/** Some places lie behind the recorded outcome: a process that is to die there gets a moment for it. */
const lateDeathMs = 4_000

/** GitHub sends a failed delivery again when it is asked to; a kill before the answer left is such a failure. */
async function redeliver(stage: Stage, replaced: Promise<void>): Promise<void> {
  await replaced
  const failed = stage.simulator.github.state.deliveries.filter(delivery => delivery.statusCode === 0 || delivery.statusCode >= 400)
  if (failed.length > 0 && (await stage.ledger.tasks({ limit: 1 })).length === 0) await stage.redeliver()
}

/** The outcome is recorded before the last tidying; that has a moment of its own. */
export async function settled(stage: Stage): Promise<void> {
  for (const until = Date.now() + settleWallMs; Date.now() < until; await sleep(25)) {
    if (runFolders(stage).length > 0 || leftProcesses(stage).length > 0) continue
    if ((await openEffects(stage)) === 0) return
  }
}

const settleWallMs = 15_000

async function openEffects({ ledger }: Stage): Promise<number> {
  const halves = [{ attempt: 'app' }, { attempt: 'worker', ended: true }] as const
  const states = ['in-flight', 'unknown'] as const
  const looks = halves.flatMap(half => states.map(each => ({ ...half, states: each, updatedBefore: Date.now() + 1, limit: 1 })))
  return (await Promise.all(looks.map(look => ledger.openEffects(look)))).flat().length
}

async function takeStock(point: string, deaths: readonly number[], calmFrom: number, stage: Stage): Promise<Omit<CrashRow, 'expected'>> {
  const repository = stage.simulator.github.state.repositories.get('octo/parser')
  const evidence = await gatherEvidence(stage, { calmAt: deaths.at(-1) ?? calmFrom, disturbances: deaths.length })
  const state = foldTask(evidence.tasks.at(-1)?.events ?? [])
  const { outcome, attempts } = state
  return {
    point,
    died: deaths.length > 0,
    outcome: outcome?.outcome ?? 'none',
    reason: outcome?.reason ?? '',
    attempts: attempts.length,
    pulls: [...(repository?.issues.values() ?? [])].filter(issue => issue.pull).length,
    branches: Object.keys(evidence.branches).filter(branch => branch.startsWith('grok/')).length,
    eyes: evidence.things.filter(({ kind }) => kind === 'reaction').length,
    comments: evidence.things.filter(({ kind }) => kind === 'comment').length,
    ...remarksOf(stage),
    reasked: reaskedOf(evidence),
    recoveryMs: deaths.length > 0 ? (attempts.at(-1)?.at ?? 0) - (deaths.at(-1) ?? 0) : 0,
    faults: findFaults(evidence),
  }
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

/** What must hold after every kill; the texts are what a failing row is reported with. */
export function faultsOf(row: CrashRow): string[] {
  const differences = Object.entries(row.expected).flatMap(([name, value]) => {
    const found = row[name as keyof CrashRow]
    return found === value ? [] : [`${name} is ${found}, not ${value}`]
  })
  const faults = [...differences, ...row.faults.map(({ kind, words }) => `${kind}: ${words}`)]
  if (row.point !== 'none' && !row.died) faults.push('the road does not pass this point')
  return faults
}
