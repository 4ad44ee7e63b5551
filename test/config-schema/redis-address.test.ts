import { describe, expect, it } from 'vitest'
import { parseRedisUrl, readEnvironment, secretsOf } from '../../config-schema/index.ts'

const plain = { host: 'h', port: 6379, tls: false, username: '', password: '', database: 0 }

describe('the address of Redis', () => {
  it.each([
    ['redis://h', plain],
    ['redis://h:6380/', { ...plain, port: 6380 }],
    ['rediss://:pw@h/3', { ...plain, tls: true, password: 'pw', database: 3 }],
    ['redis://bell:p%40%2F%3A%23@h', { ...plain, username: 'bell', password: 'p@/:#' }],
    ['redis://[::1]:7000', { ...plain, host: '::1', port: 7000 }],
  ])('%s', (url, address) => {
    expect(parseRedisUrl(url)).toEqual(address)
  })
  it.each([
    '',
    'h:6379',
    'http://h',
    'redis:h',
    'redis://',
    'redis:///1',
    'redis://h/one',
    'redis://h/1/2',
    'redis://h?ssl=true',
    'redis://:p#w@h',
    'redis://:%zz@h',
    'unix:///run/redis.sock',
  ])('is not %j', url => {
    expect(parseRedisUrl(url)).toBe(null)
  })
})

describe('the environment', () => {
  it('takes the password of REDIS_URL for a secret, as it is and not as it is written there', () => {
    const read = readEnvironment({ REDIS_URL: 'redis://:p%40ss-word@h', WEBHOOK_SECRET: 'w' })
    if (read.kind !== 'read') throw new Error('not read')
    expect(secretsOf(read.values)).toEqual(['w', 'p@ss-word'])
  })
  it('has no secret in a REDIS_URL without a password', () => {
    const read = readEnvironment({ REDIS_URL: 'redis://h' })
    expect(read.kind === 'read' && secretsOf(read.values)).toEqual([])
  })
  it('says what is wrong with a REDIS_URL without repeating it', () => {
    expect(readEnvironment({ REDIS_URL: 'redis://:secret-word@h?tls=true' })).toEqual({
      kind: 'invalid',
      problems: ['REDIS_URL: must be redis[s]://[[user]:password@]host[:port][/database] and nothing more'],
    })
  })
})
