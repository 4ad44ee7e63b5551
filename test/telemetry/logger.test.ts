import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger, registerSecret } from '../../telemetry/index.ts'

const secret = 'a-password-of-the-logger'
registerSecret(secret)

function logged(level: string, error: unknown) {
  const stream = new PassThrough()
  createLogger(level, stream).error({ error }, 'failed')
  return JSON.parse(String(stream.read())).error
}

/** As a client of GitHub throws it when nothing listens there. */
function unreachable(): Error {
  const refused = Object.assign(new Error(`connect ECONNREFUSED ${secret}`), { code: 'ECONNREFUSED' })
  const failed = new TypeError('fetch failed', { cause: refused })
  return Object.assign(new Error(`no answer for ${secret}`, { cause: failed }), { name: 'HttpError', status: 500, code: 'AWAY' })
}

test.each(['info', 'warn', 'error'])('at %s an error is its name, words, code and causes, without the places in the code', level => {
  expect(logged(level, unreachable())).toEqual({
    type: 'HttpError',
    message: 'no answer for [redacted]',
    code: 'AWAY',
    status: 500,
    cause: 'fetch failed: connect ECONNREFUSED [redacted]',
  })
})

test.each(['debug', 'trace'])('at %s it is also where it was thrown', level => {
  const error = unreachable()
  expect(logged(level, error).stack).toBe(error.stack?.replaceAll(secret, '[redacted]'))
})

test('a cause may be anything', () => {
  expect(logged('info', new Error('outer', { cause: Object.create(null) }))).toMatchObject({ cause: 'an object' })
  expect(logged('info', new Error('outer', { cause: { code: 'E1', message: 'plain' } }))).toMatchObject({ cause: 'plain' })
})

test('a cause without words is its code, and causes that run in a circle end', () => {
  const many = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  expect(logged('info', new Error('outer', { cause: many }))).toEqual({ type: 'Error', message: 'outer', cause: 'ECONNREFUSED' })
  const round = new Error('round')
  round.cause = round
  expect(logged('info', round)).toEqual({ type: 'Error', message: 'round', cause: 'round' })
  expect(logged('info', `thrown ${secret}`)).toBe('thrown [redacted]')
})
