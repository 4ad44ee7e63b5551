import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServe, type ServeStage } from '../worker/open-serve.ts'
import { lintText } from './lint-text.ts'
import { notifications, renderSeen, textsOf } from './seen.ts'
import { stories } from './stories.ts'
import { openScene } from './story.ts'

let stage: ServeStage
const limits = {
  deliveryDrainMs: 20,
  sweepMs: 200,
  livenessMs: 200,
  readBackGapMs: 50,
  writeGapMs: 0,
  progressAfterMs: 60_000,
  modelTriesMax: 2,
}
beforeAll(async () => {
  stage = await openServe({ limits, models: { scripted: { price: { input: 5_000_000, output: 15_000_000 } } } })
  stage.simulator.github.setWebhook(stage.url)
}, 60_000)
afterAll(() => stage.close())

/** `test/golden/stories/*.md` hold what is seen on GitHub at the end, whole; a changed text is a changed file. */
test.each(stories)('$name', { timeout: 120_000 }, async ({ name, outcomes, notifications: mails, files = {}, play }) => {
  const slug = name.replace(/[^a-z]+/g, '-')
  const scene = await openScene(stage, slug.slice(0, 60), files)
  await play(scene)
  const states = await scene.ended(outcomes.length)
  await stage.simulator.github.webhooksSettled()
  expect(states.map(({ outcome }) => outcome?.outcome)).toEqual(outcomes)
  const { repository, github, repo } = scene
  expect(notifications(repository)).toBe(mails)
  expect(textsOf(repository).flatMap(text => lintText(text).map(fault => `${text.surface}: ${fault}\n${text.body}`))).toEqual([])
  const refs = Object.entries(await github.refs(repo.name)).filter(([ref]) => ref.startsWith('refs/heads/'))
  const branches = await Promise.all(
    refs.map(async ([ref, sha]) => `${ref} ${sha} ${await repo.git('log', '-1', '--format=%an: %s', sha)}`),
  )
  const shas = (await repo.git('rev-list', '--all', '--reverse', '--topo-order')).split('\n')
  await expect(renderSeen(github, repository, { branches, shas })).toMatchFileSnapshot(`../golden/stories/${slug}.md`)
})
