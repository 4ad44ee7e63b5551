import { expect, it } from 'vitest'
import { judgeRedis } from '../../queue/judge-redis.ts'

const sound = { redis_version: '7.0.15', redis_mode: 'standalone', role: 'master', maxmemory_policy: 'noeviction' }
const info = (fields: object) =>
  ['# Server', ...Object.entries({ ...sound, ...fields }).flatMap(([name, value]) => (value === null ? [] : `${name}:${value}`))].join(
    '\r\n',
  )

it.each([
  ['as it should be', {}],
  ['of the oldest version', { redis_version: '6.2.0' }],
  ['of a later one', { redis_version: '10.0.1' }],
])('a Redis %s is accepted', (_title, fields) => {
  expect(judgeRedis(info(fields))).toEqual({ kind: 'accepted' })
})

it.each([
  ['too old for BullMQ', { redis_version: '5.0.14' }, 'its version is 5.0.14: 6.2.0 or newer is needed'],
  ['a little too old', { redis_version: '6.0.16' }, 'its version is 6.0.16: 6.2.0 or newer is needed'],
  ['without a version', { redis_version: null }, 'its version is not given: 6.2.0 or newer is needed'],
  ['of which the version is no number', { redis_version: '7.x' }, 'its version is 7.x: 6.2.0 or newer is needed'],
  ['that is a cluster', { redis_mode: 'cluster' }, 'it is a cluster: give the address of a single Redis'],
  ['that is a sentinel', { redis_mode: 'sentinel', role: null }, 'its role is not given: give the address of the primary'],
  ['that is a copy', { role: 'slave' }, 'its role is slave: give the address of the primary'],
  [
    'that does not say what it drops',
    { maxmemory_policy: null },
    'its maxmemory-policy is not given, under which keys may be dropped: set noeviction (CONFIG SET maxmemory-policy noeviction, and in its configuration file)',
  ],
])('a Redis %s is refused', (_title, fields, reason) => {
  expect(judgeRedis(info(fields))).toEqual({ kind: 'refused', reason })
})
