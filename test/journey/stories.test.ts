import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openServe, type ServeStage } from '../worker/open-serve.ts'
import { lintText } from './lint-text.ts'
import { notifications, renderSeen, renderVersions, textsOf } from './seen.ts'
import { stories } from './stories.ts'
import { openScene, type Scene, type Story } from './story.ts'

let stage: ServeStage
const pages = 'https://grok.example'
const limits = {
  deliveryDrainMs: 20,
  sweepMs: 200,
  livenessMs: 200,
  readBackGapMs: 50,
  writeGapMs: 0,
  progressAfterMs: 60_000,
  modelTriesMax: 2,
}
const models = { scripted: { price: { input: 5_000_000, output: 15_000_000 } } }
beforeAll(async () => {
  stage = await openServe({ limits, models }, pages)
  stage.simulator.github.setWebhook(stage.url())
}, 60_000)
afterAll(() => stage.close())

/** `test/golden/stories/*.md` hold what is seen on GitHub at the end, whole; a changed text is a changed file. */
test.each(stories)('$name', { timeout: 120_000 }, async story => {
  const { scene, seen } = await tell(stage, story)
  expect(notifications(scene.repository)).toBe(story.notifications)
  await expect(seen).toMatchFileSnapshot(`../golden/stories/${slugOf(story.name)}.md`)
})

test('where no address is set nothing leads to a page, and what is kept is said by its command', { timeout: 120_000 }, async () => {
  const other = await openServe({ limits, models })
  onTestFinished(() => other.close())
  other.simulator.github.setWebhook(other.url())
  const story = stories.find(({ name }) => name === 'a change with which a check still fails') as Story
  const { seen } = await tell(other, story)
  expect(seen).not.toContain('/r/t_')
  await expect(seen).toMatchFileSnapshot('../golden/stories/without-pages.md')
})

test('a run that waits for another, is handed over and is gone on with is told in one comment', { timeout: 120_000 }, async () => {
  const other = await openServe({ limits: { ...limits, progressAfterMs: 1, progressGapMs: 50 }, models }, pages)
  onTestFinished(() => other.close())
  other.simulator.github.setWebhook(other.url())
  const scene = await openScene(other, 'a-run-that-is-handed-over', {})
  const { modelBy, issue, say, until, repo, repository, github } = scene
  const thought = { text: 'Let me think.', toolCalls: [{ name: 'grep', arguments: { pattern: 'x' } }] }
  const slow = { ...thought, fault: { kind: 'latency' as const, ms: 4_000 } }
  const goodFix = { toolCalls: [{ name: 'write', arguments: { file_path: 'add.sh', content: 'echo $(($1 + $2))\n' } }] }
  const last = { text: 'Add the numbers' }
  modelBy(asked => (asked.includes('the first one') ? [slow, goodFix, last] : [goodFix, slow, last]))
  const told = (number: number) =>
    [...repository.comments.values()]
      .filter(row => row.issueNumber === number)
      .at(-1)
      ?.versions.at(-1)?.body ?? ''
  say(issue(), '/grok fix the first one')
  await until(([first]) => first?.session?.openRequest != null)
  const number = issue()
  say(number, '/grok fix the second one')
  await expect.poll(() => told(number), { timeout: 10_000, interval: 5 }).toContain('queued')
  await until(([, second]) => second?.session?.turns.length === 1 && second.session.openRequest !== null)
  await expect.poll(() => told(number), { timeout: 10_000 }).toMatch(/Done: .*add\.sh/)
  await other.restart()
  other.simulator.github.setWebhook(other.url())
  const states = await scene.ended(2)
  expect(states.map(({ outcome }) => outcome?.outcome)).toEqual(['succeeded', 'succeeded'])
  expect(faults(scene)).toEqual([])
  const shas = (await repo.git('rev-list', '--all', '--reverse', '--topo-order')).split('\n')
  await expect(renderVersions(github, repository, number, shas)).toMatchFileSnapshot('../golden/stories/a-run-that-is-handed-over.md')
})

async function tell(where: ServeStage, { name, outcomes, files = {}, play }: Story): Promise<{ scene: Scene; seen: string }> {
  const scene = await openScene(where, slugOf(name).slice(0, 60), files)
  await play(scene)
  const states = await scene.ended(outcomes.length)
  await where.simulator.github.webhooksSettled()
  expect(states.map(({ outcome }) => outcome?.outcome)).toEqual(outcomes)
  expect(faults(scene)).toEqual([])
  const { repository, github, repo } = scene
  const refs = Object.entries(await github.refs(repo.name)).filter(([ref]) => ref.startsWith('refs/heads/'))
  const branches = await Promise.all(
    refs.map(async ([ref, sha]) => `${ref} ${sha} ${await repo.git('log', '-1', '--format=%an: %s', sha)}`),
  )
  const shas = (await repo.git('rev-list', '--all', '--reverse', '--topo-order')).split('\n')
  return { scene, seen: renderSeen(github, repository, { branches, shas }) }
}

function faults({ repository }: Scene): string[] {
  return textsOf(repository).flatMap(text => lintText(text).map(fault => `${text.surface}: ${fault}\n${text.body}`))
}

function slugOf(name: string): string {
  return name.replace(/[^a-z]+/g, '-')
}
