import type { Octokit } from '@octokit/rest'
import type { Role } from '../domain/index.ts'
import { statusOf } from './classify-error.ts'
import { readRepository, readRole } from './read-facts.ts'

/** Of the place of a task and of who asked for it, what may have changed while it was worked on. */
export type ThreadStanding = { archived: boolean; role: Role; thread: 'open' | 'locked' | 'gone' }

/** As it is now, of an issue or a pull request. Throws what Octokit throws; a thread that is not there is `gone`. */
export async function readThreadStanding(
  api: Octokit,
  name: { owner: string; repo: string },
  { number, person }: { number: number; person: { login: string; id: number } },
): Promise<ThreadStanding> {
  const [{ archived }, role, thread] = await Promise.all([
    readRepository(api, name),
    readRole(api, name, person),
    readThread(api, name, number),
  ])
  return { archived, role, thread }
}

async function readThread(
  api: Octokit,
  { owner, repo }: { owner: string; repo: string },
  issue_number: number,
): Promise<ThreadStanding['thread']> {
  try {
    const { data } = await api.rest.issues.get({ owner, repo, issue_number })
    // One that was moved to another repository answers from there, under a number of its own.
    if (data.number !== issue_number) return 'gone'
    return data.locked ? 'locked' : 'open'
  } catch (error) {
    const status = statusOf(error)
    if (status === 404 || status === 410) return 'gone'
    throw error
  }
}
