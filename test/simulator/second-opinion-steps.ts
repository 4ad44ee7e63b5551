export type Held = Record<string, string | number>
type Body = object | ((held: Held) => object)
/** One request of both; what later ones need is kept of each one's own answer. */
export type Step = {
  name: string
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  /** The installation's token where nothing is said. */
  as?: 'app' | 'bad' | 'nobody' | 'token'
  body?: Body
  keep?: (answer: never) => Held
}

const repo = '/repos/octo/hello'
const id = (name: string) => (answer: { id: number }) => ({ [name]: answer.id })
const shaAs = (name: string) => (answer: { sha: string }) => ({ [name]: answer.sha })

function step(name: string, request: string, more: Partial<Step> = {}): Step {
  const [method = '', path = ''] = request.split(' ')
  return { name, method: method as Step['method'], path, ...more }
}

const appSteps = [
  step('the App', 'GET /app', { as: 'app' }),
  step('the App without a JWT', 'GET /app', { as: 'nobody' }),
  step("the App's installations", 'GET /app/installations', { as: 'app' }),
  step('one installation', 'GET /app/installations/{installation}', { as: 'app' }),
  step('an installation that is not there', 'GET /app/installations/99', { as: 'app' }),
  step("a repository's installation", `GET ${repo}/installation`, { as: 'app' }),
  step('a token', 'POST /app/installations/{installation}/access_tokens', { as: 'app', body: {} }),
  step('a token for less', 'POST /app/installations/{installation}/access_tokens', {
    as: 'app',
    body: { repositories: ['hello'], permissions: { issues: 'read' } },
  }),
  step('a token for a repository that is not there', 'POST /app/installations/{installation}/access_tokens', {
    as: 'app',
    body: { repositories: ['absent'] },
  }),
]

const repositorySteps = [
  step('a repository', `GET ${repo}`),
  step('a repository that is not there', 'GET /repos/octo/absent'),
  step('with a bad token', `GET ${repo}`, { as: 'bad' }),
  step('a private one, as nobody', 'GET /repos/octo/hidden', { as: 'nobody' }),
  step('a writer', `GET ${repo}/collaborators/maria/permission`),
  step('a person', 'GET /users/maria'),
  step('nobody', 'GET /users/absent'),
  step('branches', `GET ${repo}/branches`),
  step('a branch', `GET ${repo}/branches/main`),
  step('a branch that is not there', `GET ${repo}/branches/absent`),
  step('a ref', `GET ${repo}/git/ref/heads/main`, { keep: ({ object }: { object: { sha: string } }) => ({ main: object.sha }) }),
  step('a ref that is not there', `GET ${repo}/git/ref/heads/absent`),
  step('a file', `GET ${repo}/contents/README.md`),
  step('a file that is not there', `GET ${repo}/contents/absent`),
  step('a folder', `GET ${repo}/contents/`),
]

const issueSteps = [
  step('a label', `POST ${repo}/labels`, { body: { name: 'bug', color: 'ff0000', description: 'Broken' } }),
  step('the label again', `POST ${repo}/labels`, { body: { name: 'bug', color: 'ff0000' } }),
  step('one label', `GET ${repo}/labels/bug`),
  step('a label that is not there', `GET ${repo}/labels/absent`),
  step('an issue', `POST ${repo}/issues`, {
    body: { title: 'It is broken', body: 'Really', labels: ['bug'] },
    keep: ({ number }: { number: number }) => ({ issue: number }),
  }),
  step('an issue without a title', `POST ${repo}/issues`, { body: { body: 'Really' } }),
  step('one issue', `GET ${repo}/issues/{issue}`),
  step('an issue that is not there', `GET ${repo}/issues/999`),
  step('issues', `GET ${repo}/issues?state=open`),
  step('an issue is closed', `PATCH ${repo}/issues/{issue}`, { body: { state: 'closed', state_reason: 'completed' } }),
  step('an issue is opened again', `PATCH ${repo}/issues/{issue}`, { body: { state: 'open' } }),
  step('closed issues', `GET ${repo}/issues?state=closed`),
  step('labels of an issue', `GET ${repo}/issues/{issue}/labels`),
  step('a label more', `POST ${repo}/issues/{issue}/labels`, { body: { labels: ['new'] } }),
  step('a label less', `DELETE ${repo}/issues/{issue}/labels/new`),
  step('a label less that is not on it', `DELETE ${repo}/issues/{issue}/labels/new`),
  step('no labels', `DELETE ${repo}/issues/{issue}/labels`),
  step('a comment', `POST ${repo}/issues/{issue}/comments`, { body: { body: 'Working' }, keep: id('comment') }),
  step('a comment without text', `POST ${repo}/issues/{issue}/comments`, { body: {} }),
  step('a comment on nothing', `POST ${repo}/issues/999/comments`, { body: { body: 'Working' } }),
  step('one comment', `GET ${repo}/issues/comments/{comment}`),
  step('a comment is edited', `PATCH ${repo}/issues/comments/{comment}`, { body: { body: 'Done' } }),
  step('comments', `GET ${repo}/issues/{issue}/comments`),
  step('a comment is deleted', `DELETE ${repo}/issues/comments/{comment}`),
  step('a comment that is gone', `GET ${repo}/issues/comments/{comment}`),
]

const codeSteps = [
  step('a blob', `POST ${repo}/git/blobs`, { body: { content: 'one\ntwo\n', encoding: 'utf-8' }, keep: shaAs('blob') }),
  step('one blob', `GET ${repo}/git/blobs/{blob}`),
  step('a tree', `POST ${repo}/git/trees`, {
    body: held => ({ tree: [{ path: 'a.ts', mode: '100644', type: 'blob', sha: held.blob }] }),
    keep: shaAs('tree'),
  }),
  step('one tree', `GET ${repo}/git/trees/{tree}`),
  step('a commit', `POST ${repo}/git/commits`, {
    body: held => ({ message: 'Mend it', tree: held.tree, parents: [held.main] }),
    keep: shaAs('commit'),
  }),
  step('one commit', `GET ${repo}/git/commits/{commit}`),
  step('a commit of an absent tree', `POST ${repo}/git/commits`, { body: { message: 'Mend it', tree: '1'.repeat(40), parents: [] } }),
  step('a new branch', `POST ${repo}/git/refs`, { body: held => ({ ref: 'refs/heads/topic', sha: held.commit }) }),
  step('the branch again', `POST ${repo}/git/refs`, { body: held => ({ ref: 'refs/heads/topic', sha: held.commit }) }),
  step('a branch at nothing', `POST ${repo}/git/refs`, { body: { ref: 'refs/heads/other', sha: '1'.repeat(40) } }),
  step('refs', `GET ${repo}/git/matching-refs/heads/`),
  step('a comparison', `GET ${repo}/compare/main...topic`),
]

const pullSteps = [
  step('a pull request', `POST ${repo}/pulls`, {
    body: { title: 'Mend it', head: 'topic', base: 'main', body: 'Text' },
    keep: ({ number }: { number: number }) => ({ pull: number }),
  }),
  step('the pull request again', `POST ${repo}/pulls`, { body: { title: 'Mend it', head: 'topic', base: 'main' } }),
  step('a pull request of nothing', `POST ${repo}/pulls`, { body: { title: 'Mend it', head: 'absent', base: 'main' } }),
  step('one pull request', `GET ${repo}/pulls/{pull}`),
  step('an issue as a pull request', `GET ${repo}/pulls/{issue}`),
  step('pull requests', `GET ${repo}/pulls?state=open&head=octo:topic`),
  step('its files', `GET ${repo}/pulls/{pull}/files`),
  step('its commits', `GET ${repo}/pulls/{pull}/commits`),
  step('a title', `PATCH ${repo}/pulls/{pull}`, { body: { title: 'Mend it well' } }),
  step('a reviewer', `POST ${repo}/pulls/{pull}/requested_reviewers`, { body: { reviewers: ['maria'] } }),
  step('a review', `POST ${repo}/pulls/{pull}/reviews`, { body: { event: 'COMMENT', body: 'Seen' }, keep: id('review') }),
  step('one review', `GET ${repo}/pulls/{pull}/reviews/{review}`),
  step('reviews', `GET ${repo}/pulls/{pull}/reviews`),
  step('it is closed', `PATCH ${repo}/pulls/{pull}`, { body: { state: 'closed' } }),
]

const checkSteps = [
  step('a check run', `POST ${repo}/check-runs`, {
    body: held => ({ name: 'grok', head_sha: held.commit, status: 'in_progress' }),
    keep: id('run'),
  }),
  step('a check run ends', `PATCH ${repo}/check-runs/{run}`, {
    body: { conclusion: 'success', output: { title: 'Good', summary: 'All of it' } },
  }),
  step('one check run', `GET ${repo}/check-runs/{run}`),
  step('check runs', `GET ${repo}/commits/{commit}/check-runs`),
  step('a branch less', `DELETE ${repo}/git/refs/heads/topic`),
  step('the branch once more', `DELETE ${repo}/git/refs/heads/topic`),
]

export const steps: readonly Step[] = [...appSteps, ...repositorySteps, ...issueSteps, ...codeSteps, ...pullSteps, ...checkSteps]
