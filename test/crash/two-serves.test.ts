import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sampleFiles, scenes } from './scenes.ts'
import { openStage, type Stage, waitForEnd } from './stage.ts'

const timeout = 120_000
const repo = 'octo/parser'

/** What people see: each must be there exactly once, whichever process did it. */
const seen = ({ simulator }: Stage) => {
  const repository = simulator.github.state.repositories.get(repo)
  const ours = [...(repository?.comments.values() ?? [])].filter(comment => comment.author?.login.endsWith('[bot]'))
  return {
    pulls: [...(repository?.issues.values() ?? [])].filter(issue => issue.pull).length,
    comments: ours.length,
    reactions: simulator.github.requests().filter(request => request.method === 'POST' && request.url.endsWith('/reactions')).length,
  }
}

async function sendTo(stage: Stage, urls: readonly string[], body: string) {
  const { github } = stage.simulator
  const comment = await github.comment({ repo, number: 1, author: 'mona', body })
  const payload = github.payload.issueComment('created', { repo, commentId: comment.id })
  const id = `00000000-0000-4000-8000-${String(comment.id).padStart(12, '0')}`
  await Promise.all(urls.map(to => github.deliver({ event: 'issue_comment', to, payload, id })))
}

test('two serves share one data folder: a delivery both get is one task, worked on once and answered once', { timeout }, async () => {
  const stage = await openStage({ script: scenes.fix.script, files: sampleFiles })
  try {
    const [first, second] = [await stage.serve(), await stage.serve()]
    await sendTo(stage, [first.url, second.url], '/grok fix')
    const state = await waitForEnd(stage.ledger, 60_000)
    const why = JSON.stringify({ reason: state?.outcome?.reason, attempts: state?.attempts })
    expect([state?.outcome?.outcome, state?.attempts.length, (await stage.ledger.tasks({ limit: 9 })).length], why).toEqual([
      'succeeded',
      1,
      1,
    ])
    await sleep(500)
    expect(seen(stage)).toEqual({ pulls: 1, comments: 1, reactions: 1 })
  } finally {
    await stage.close()
  }
})

test('when the one that sends the outbox dies the other follows', { timeout }, async () => {
  const stage = await openStage({ script: scenes.fix.script, files: sampleFiles })
  try {
    const first = await stage.serve()
    await sendTo(stage, [first.url], '/grok help')
    await waitForEnd(stage.ledger, 20_000)
    const second = await stage.serve()
    first.process.kill('SIGKILL')
    await first.exited
    await sendTo(stage, [second.url], '/grok help')
    for (const until = Date.now() + 20_000; Date.now() < until && seen(stage).comments < 2; ) await sleep(50)
    await waitForEnd(stage.ledger, 20_000)
    expect(seen(stage)).toEqual({ pulls: 0, comments: 2, reactions: 2 })
  } finally {
    await stage.close()
  }
})
