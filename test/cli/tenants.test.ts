import { expect, test } from 'vitest'
import { UsageError } from '../../cli/exit.ts'
import { requireTenantsApart } from '../../cli/tenants.ts'
import { defaultLimits, type OperatorConfig } from '../../config-schema/index.ts'

const check = (sandbox: OperatorConfig['sandbox'], owners: readonly string[] | null) => () =>
  requireTenantsApart({ limits: defaultLimits(), operator: { version: 1, sandbox }, prefix: '/grok' }, owners)
/** So that both modes are tried whoever runs the tests. */
const apart = { singleUidTenants: true }

test.each(['devbox', 'off'] as const)('the profile %s is refused where several owners are served, and taken for one', profile => {
  for (const owners of [null, ['octo', 'acme']]) {
    expect(check({ ...apart, profile }, owners)).toThrow(UsageError)
    expect(check({ ...apart, profile }, owners)).toThrow(`the profile ${profile} is for a worker of one tenant`)
  }
  expect(check({ profile }, ['octo'])).not.toThrow()
})

test.each(['workspace', 'read-only', 'strict', 'review'] as const)('the profile %s is for any number', profile => {
  expect(check({ ...apart, profile }, null)).not.toThrow()
})

test('without a user for each session several owners need the word of the operator', () => {
  const real = process.getuid
  try {
    process.getuid = () => 1_000
    expect(check({}, ['octo', 'acme'])).toThrow('several tenants would share one Unix user')
    expect(check(apart, ['octo', 'acme'])).not.toThrow()
    expect(check({}, ['octo'])).not.toThrow()
    process.getuid = () => 0
    expect(check({}, ['octo', 'acme'])).not.toThrow()
  } finally {
    process.getuid = real as () => number
  }
})
