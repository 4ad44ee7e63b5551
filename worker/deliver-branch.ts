import { apply } from './apply.ts'
import type { Reached } from './deliver.ts'
import { placeOf } from './effect-ports.ts'
import type { Commit } from './make-commit.ts'
import { pushChange } from './push-change.ts'
import { refusedPush, settledWhy } from './refusal-words.ts'
import { renderPullRequest, renderTitle } from './render-pull-request.ts'
import { runLinks } from './run-links.ts'
import type { Base, Task } from './task.ts'

/** A new branch of our own, then a pull request from it. */
export async function openPullRequest(task: Task, base: Base, commit: Commit): Promise<Reached> {
  const { accepted } = task
  const place = placeOf(task)
  const push = await pushChange(task, base, commit, { ordinal: 1, branch: commit.branch, expect: null })
  if (push.state !== 'confirmed') return settledWhy(push, refusedPush(push))
  const state = task.log.state()
  // What a stranger wrote may have steered the session: a person looks before anybody takes it for finished.
  const draft = state.verdict?.verdict !== 'proven' || state.taint.length > 0
  const title = renderTitle(state.session?.ended?.text ?? '', accepted.subject)
  const body = renderPullRequest(
    state,
    task.settings.prefix,
    task.settings.limits.bodyCharactersMax,
    runLinks(task.id, state, task.ports.link),
  )
  const pull = await apply(task, base, {
    kind: 'pull-request',
    ordinal: 1,
    intent: { ...place, head: commit.branch, base: accepted.base.ref, title, body, draft },
  })
  if (pull.state !== 'confirmed') {
    const why = `no pull request could be opened: ${pull.reason}`
    return settledWhy(pull, { kind: 'fallen', code: 'pull-request-refused', why })
  }
  return {
    kind: 'pull-request',
    number: Number(pull.remote['number']),
    url: String(pull.remote['url']),
    draft,
    branch: commit.branch,
    sha: String(push.remote['sha']),
  }
}
