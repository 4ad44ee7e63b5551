import { type Suggestion, suggestionsFor, type TaskState } from '../domain/index.ts'
import { effectId } from '../effects/index.ts'
import { diffHunks, mergeBase, readFileAt } from '../git/index.ts'
import { apply } from './apply.ts'
import type { Reached } from './deliver.ts'
import { placeOf } from './effect-ports.ts'
import { workerLimits } from './limits.ts'
import type { Commit } from './make-commit.ts'
import { obstacleNow, provenBroken } from './obstacle.ts'
import { settledWhy } from './refusal-words.ts'
import { renderSuggestion, renderSuggestions } from './render-suggestions.ts'
import type { Base, Task } from './task.ts'
import { viewOf } from './words-of-end.ts'

const inFork = 'its head lies in a fork, where I never push'
/** Lines of context in the diff that GitHub shows, on which a comment may stand. */
const contextLines = 3

/** For a fork's pull request: one review that holds the whole change as suggestions, when it can be said so to the byte. */
export async function suggestToFork(task: Task, base: Base, commit: Commit): Promise<Reached> {
  const state = task.log.state()
  const head = base.start.sha
  const known = state.effects[effectId(task.id, { kind: 'review', ordinal: 1 })]
  if (!task.accepted.grant.effects.includes('review')) return { kind: 'fallen', code: 'fork-patch-only', why: inFork }
  const obstacle = known ? null : (provenBroken(state) ?? (await obstacleNow(task, head)))
  if (obstacle?.kind === 'fallen') return obstacle
  if (obstacle)
    return { kind: 'fallen', code: 'fork-moved', why: `${inFork}, and its head moved to \`${obstacle.head.slice(0, 7)}\` meanwhile` }
  const suggestions = await suggestionsOf(task, base, commit)
  if (suggestions === null)
    return {
      kind: 'fallen',
      code: 'suggestions-not-possible',
      why: `${inFork}, and the change is more than suggestions on its own lines can say`,
    }
  const comments = suggestions.map(each => ({
    path: each.path,
    startLine: each.startLine,
    line: each.endLine,
    body: renderSuggestion(each),
  }))
  const body = renderSuggestions(viewOf(task, { outcome: 'succeeded', reason: '', summary: '' }), suggestions.length)
  const intent = { ...placeOf(task), number: task.accepted.subject?.number ?? 0, headSha: head, body, comments }
  const review = await apply(task, null, { kind: 'review', ordinal: 1, intent })
  if (review.state === 'confirmed') return { kind: 'suggestions', count: comments.length }
  const why = `${inFork}, and the suggestions were not taken: ${review.reason}`
  return settledWhy(review, { kind: 'fallen', code: 'suggestions-refused', why })
}

/** Null: some of it can not be one. Only files that stay what they are, and whose every byte is accounted for. */
async function suggestionsOf(task: Task, base: Base, commit: Commit): Promise<Suggestion[] | null> {
  const { change } = task.log.state()
  const from = task.accepted.pull?.baseSha ?? ''
  const merge = await mergeBase(base.mirror, from, base.start.sha)
  if (!change || merge === null || !change.files.every(isPlainEdit) || change.files.length > workerLimits.suggestionsMax) return null
  const all: Suggestion[] = []
  for (const { path } of change.files) {
    const found = await suggestionsIn(base, { path, merge, tree: commit.tree })
    if (found === null) return null
    all.push(...found)
  }
  return all.length > 0 && all.length <= workerLimits.suggestionsMax ? all : null
}

type Changed = NonNullable<TaskState['change']>['files'][number]

function isPlainEdit({ status, notes }: Changed): boolean {
  return status === 'modified' && !notes.some(note => note.startsWith('mode ') || note === 'symbolic link')
}

async function suggestionsIn(
  base: Base,
  { path, merge, tree }: { path: string; merge: string; tree: string },
): Promise<Suggestion[] | null> {
  const { store, start } = base
  const [head, wanted] = await Promise.all([start.sha, tree].map(at => readFileAt({ ...store.mirror, path: store.path }, at, path)))
  const pull = await diffHunks(store, merge, start.sha, path, contextLines)
  const change = await diffHunks(store, start.sha, tree, path, 0)
  if (head?.kind !== 'file' || wanted?.kind !== 'file' || pull === null || change === null) return null
  const text = (content: Uint8Array) => Buffer.from(content).toString('utf8')
  return suggestionsFor({ path, head: text(head.content), wanted: text(wanted.content), pull, change })
}
