import { expect, onTestFinished, test } from 'vitest'
import { openApp } from './open-app.ts'

test('what a task keeps of an issue ends at the operator’s limit, and says so', async () => {
  const app = await openApp()
  onTestFinished(app.close)
  app.limits.subjectBytesMax = 1
  await app.comment('/grok fix')
  await app.take()
  const [event] = await app.ledger.readEvents('t_1')
  expect(event?.payload).toMatchObject({ subject: { number: 1, title: 'a', body: '\n\n[cut: 0 of 1 bytes were kept]', trusted: true } })
})
