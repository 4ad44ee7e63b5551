import type { Issue, Repository } from '../../simulator/github/state.ts'
import type { FakeGitHub } from '../../simulator/index.ts'

/** What one of our texts is, which says how long it may be. */
export type Text = { surface: 'comment' | 'pull request' | 'review' | 'remark' | 'check run'; body: string }

/** Everything of ours that people see in a repository, or saw before it was edited, in order of its making. */
export function textsOf(repository: Repository): Text[] {
  const comments = [...repository.comments.values()].filter(isOurs)
  const pulls = [...repository.issues.values()].filter(issue => issue.pull && isOurs(issue))
  const reviews = [...repository.reviews.values()].filter(isOurs).filter(({ body }) => body !== '')
  const checkRuns = [...repository.checkRuns.values()]
  return [
    ...comments.flatMap(({ versions }) => versions.map(({ body }) => ({ surface: 'comment' as const, body }))),
    ...pulls.map(({ body }) => ({ surface: 'pull request' as const, body: body ?? '' })),
    ...reviews.map(({ body }) => ({ surface: 'review' as const, body })),
    ...[...repository.reviewComments.values()].filter(isOurs).map(({ body }) => ({ surface: 'remark' as const, body })),
    ...checkRuns.map(({ output }) => ({ surface: 'check run' as const, body: output.summary ?? '' })),
  ]
}

/** What GitHub sends a mail for: a new comment, pull request or review of ours; an edit, a reaction and a check run are none. */
export function notifications(repository: Repository): number {
  const ours = [repository.comments, repository.issues, repository.reviews].flatMap(rows => [...rows.values()].filter(isOurs))
  return ours.length
}

/** A repository as a page of text: threads with what was said in them, check runs, branches. */
export function renderSeen(
  github: FakeGitHub,
  repository: Repository,
  { branches, shas }: { branches: readonly string[]; shas: readonly string[] },
): string {
  const blocks = [...repository.issues.values()].map(issue => renderThread(repository, issue))
  const runs = [...repository.checkRuns.values()].map(run => {
    const buttons = run.actions.length > 0 ? `, buttons: ${run.actions.map(({ label }) => label).join(', ')}` : ''
    return block(
      `check run ${run.name} on ${run.headSha}: ${run.conclusion ?? run.status}, “${run.output.title}”${buttons}`,
      run.output.summary,
    )
  })
  return plain(github, `${[...blocks.flat(), ...runs, block('branches', branches.join('\n'))].join('\n\n')}\n`, shas)
}

/** What an edited comment said one after the other: of each state the last text, of a running one while the model was asked. */
export function renderVersions(github: FakeGitHub, repository: Repository, number: number, shas: readonly string[]): string {
  const comment = [...repository.comments.values()].find(row => row.issueNumber === number && isOurs(row) && row.versions.length > 1)
  const bodies = (comment?.versions ?? []).map(({ body }) => body).filter(body => !/^- Now: (?!asking the model$)/m.test(body))
  const lasts = bodies.filter((body, index) => stateOf(body) !== stateOf(bodies[index + 1] ?? ''))
  return plain(github, `${lasts.map(body => block(stateOf(body), body)).join('\n\n')}\n`, shas)
}

/** The word that our first line has for it, and whether it was resumed. */
function stateOf(body: string): string {
  const word = body.split('\n')[1]?.match(/ — ([a-z]+(?: [a-z]+)*)/)?.[1] ?? ''
  return body.includes('\nResumed') ? `${word}, resumed` : word
}

function renderThread(repository: Repository, issue: Issue): string[] {
  const here = <Row extends { issueNumber: number }>(rows: ReadonlyMap<number, Row>) =>
    [...rows.values()].filter(({ issueNumber }) => issueNumber === issue.number)
  const kind = issue.pull ? `pull request${issue.pull.draft ? ', a draft' : ''}` : 'issue'
  return [
    `## ${kind} #${issue.number}, ${issue.state}: ${issue.title}`,
    block(`${issue.author?.login}${reacted(issue)}`, issue.body),
    ...here(repository.comments).map(comment =>
      block(`${comment.author?.login}, ${edited(comment.versions.length - 1)}${reacted(comment)}`, comment.versions.at(-1)?.body),
    ),
    ...here(repository.reviews).map(review => block(`${review.author?.login}, review ${review.state}`, review.body)),
    ...here(repository.reviewComments).map(remark =>
      block(`${remark.author?.login} on ${remark.path}:${remark.place?.line ?? 'file'}${reacted(remark)}`, remark.body),
    ),
  ]
}

function isOurs({ author }: { author: { type: string } | null }): boolean {
  return author?.type === 'Bot'
}

function edited(times: number): string {
  return times === 0 ? 'comment' : 'edited comment'
}

function reacted({ reactions }: { reactions: readonly { content: string }[] }): string {
  return reactions.length === 0 ? '' : ` (${reactions.map(({ content }) => content).join(', ')})`
}

/** A fence longer than any in it, so that the page shows exactly what was said. */
function block(title: string, body: string | null | undefined): string {
  return `### ${title}\n\n\`\`\`\`\`\`md\n${body ?? ''}\n\`\`\`\`\`\``
}

/** The same in every run: ids, shas, times and addresses by what they are. */
function plain(github: FakeGitHub, text: string, known: readonly string[]): string {
  const names = new Map<string, string>()
  const named = (kind: string) => (id: string) => {
    const name = names.get(id) ?? `${kind}${[...names.values()].filter(each => each.startsWith(kind)).length + 1}`
    names.set(id, name)
    return name
  }
  const shas = new Map(known.map((sha, index) => [sha.slice(0, 7), `SHA${index + 1}`]))
  return text
    .replaceAll(github.webUrl, 'https://github.example')
    .replaceAll(github.url, 'https://api.github.example')
    .replace(/\bt_[0-9A-HJKMNP-TV-Z]{26}\b/g, named('t_TASK'))
    .replace(/\bmac=[\w-]+/g, 'mac=MAC')
    .replace(/\?k=[\w.-]+/g, '?k=KEY')
    .replace(/\bgrok\/fix-(\d+)-[0-9a-z]{6}\b/g, 'grok/fix-$1-TASK')
    .replace(/\b[0-9a-f]{40}\b/g, sha => shas.get(sha.slice(0, 7)) ?? sha)
    .replace(/\b[0-9a-f]{7}\b/g, sha => shas.get(sha) ?? sha)
    .replace(/\b(\d+ min )?\d+(\.\d+)? (s|ms|min)\b/g, 'TIME')
    .replace(/\b\d\d:\d\d UTC/g, 'HH:MM UTC')
    .replace(/(#issuecomment-|#discussion_r)\d+/g, '$1N')
}
