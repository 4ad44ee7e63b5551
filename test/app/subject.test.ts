import { expect, onTestFinished, test } from 'vitest'
import { readEvent } from '../../app/read-event.ts'
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

test('half a character in a title, which JSON can name and no record can hold, is taken as one that is not known', async () => {
  const app = await openApp()
  onTestFinished(app.close)
  await app.comment('/grok fix')
  const [delivery] = await app.ledger.pendingDeliveries(1)
  if (delivery === undefined) throw new Error('there is no delivery')
  const body = Buffer.from(Buffer.from(delivery.body).toString('utf8').replace('"title":"a"', '"title":"a\\ud83d"'))
  expect(readEvent({ ...delivery, body })).toMatchObject({ kind: 'asked', asked: { subject: { title: 'a\ufffd' } } })
})
