import { setTimeout as sleep } from 'node:timers/promises'
import { foldTask, type TaskState } from '../../domain/index.ts'
import type { Repository } from '../../simulator/github/state.ts'
import type { FakeGitHub, ModelTurn } from '../../simulator/index.ts'
import type { Files, Repo, ServeStage } from '../worker/open-serve.ts'

/** One thing a maintainer lives through, from the comment to the last word of ours. */
export type Story = {
  name: string
  /** How its tasks ended that a worker had, or that were refused, in order of acceptance. */
  outcomes: readonly string[]
  /** Mails GitHub sends for what we wrote. */
  notifications: number
  files?: Files
  play(scene: Scene): Promise<void>
}

export type Scene = {
  repo: Repo
  github: FakeGitHub
  repository: Repository
  /** The model's answers from now on, in order; the last one is given again and again. */
  model(...turns: ModelTurn[]): void
  /** The same, by what a request holds. */
  modelBy(turnsOf: (request: string) => readonly ModelTurn[]): void
  issue(body?: string): number
  say(number: number, body: string, author?: string): { id: number }
  /** Waits until so many tasks of this repository have ended and nothing of them is still to be done. */
  ended(count?: number): Promise<TaskState[]>
  /** Waits until something of the tasks' records is so. */
  until(holds: (states: readonly TaskState[]) => boolean): Promise<void>
}

const waitMs = 100_000
/** The same at every answer, so that what a run costs does not hang on how long our prompts are. */
const usage = { promptTokens: 2_000, completionTokens: 100, cachedTokens: 0, reasoningTokens: 0 }

export async function openScene(stage: ServeStage, name: string, files: Files): Promise<Scene> {
  const repo = await stage.repository(name, files)
  const { github, model } = stage.simulator
  const repository = github.state.repositories.get(repo.name) as Repository
  const states = async () => {
    const rows = (await stage.ledger.tasks({ limit: 200 })).filter(({ repository: named }) => named === repo.name)
    return await Promise.all(rows.reverse().map(async ({ taskId }) => foldTask(await stage.ledger.readEvents(taskId))))
  }
  async function until(holds: (states: readonly TaskState[]) => boolean): Promise<TaskState[]> {
    for (const end = Date.now() + waitMs; Date.now() < end; await sleep(25)) {
      const found = await states()
      if (holds(found)) return found
    }
    throw new Error(`${name}: it did not come to that: ${JSON.stringify((await states()).map(state => [state.outcome, state.effects]))}`)
  }
  const script = (turnsOf: (request: string) => readonly ModelTurn[]) =>
    model.script((request, position) => {
      const turns = turnsOf(JSON.stringify(request))
      return { usage, ...(turns[position] ?? turns.at(-1) ?? { text: 'Nothing to do' }) }
    })
  return {
    repo,
    github,
    repository,
    model: (...turns) => script(() => turns),
    modelBy: script,
    issue: (body = 'add.sh 1 2 should be 3') =>
      github.openIssue({ repo: repo.name, author: 'mona', title: 'The sum is wrong', body }).number,
    say: (number, body, author = 'mona') => github.comment({ repo: repo.name, number, author, body }),
    ended: (count = 1) => until(found => found.filter(({ outcome }) => outcome !== null).length >= count && found.every(isSettled)),
    until: async holds => {
      await until(holds)
    },
  }
}

function isSettled({ outcome, effects }: TaskState): boolean {
  return outcome !== null && Object.values(effects).every(({ state }) => state === 'confirmed' || state === 'rejected')
}
