import { describe, expect, it } from 'vitest'
import {
  defaultLimits,
  effectiveConfig,
  narrowestProfile,
  OperatorConfig,
  type ProfileName,
  parseConfig,
  RepositoryConfig,
} from '../../config-schema/index.ts'
import { findUnusableEntry } from '../../sandbox/egress/allow-list.ts'

const nobody: OperatorConfig = { version: 1 }
const absent = { kind: 'absent' } as const
const repository = (config: Omit<RepositoryConfig, 'version'>) => ({ kind: 'read', config: { version: 1, ...config } }) as const

describe('what counts, and who said it', () => {
  it('without any file every value is a default', () => {
    const config = effectiveConfig(nobody, absent)
    for (const [name, value] of Object.entries(defaultLimits())) {
      expect(config.limits[name as keyof typeof config.limits]).toEqual({ value, source: 'default', notTaken: null })
    }
    expect(config).toMatchObject({
      profile: { value: 'workspace', source: 'default' },
      setup: { value: null },
      policy: { value: 'required' },
      problem: null,
    })
  })
  it('the operator sets any limit, higher or lower', () => {
    const { limits } = effectiveConfig({ version: 1, limits: { turnsMax: 500, leaseMs: 1_500 } }, absent)
    expect(limits.turnsMax).toEqual({ value: 500, source: 'operator', notTaken: null })
    expect(limits.leaseMs).toEqual({ value: 1_500, source: 'operator', notTaken: null })
  })

  const asked: [name: string, operator: number | undefined, wish: number, value: number, source: string, taken: boolean][] = [
    ['lower than the default', undefined, 10, 10, 'repository', true],
    ['higher than the default', undefined, 900, 60, 'default', false],
    ['lower than the operator', 30, 10, 10, 'repository', true],
    ['higher than the operator', 30, 40, 30, 'operator', false],
    ['lower than a generous operator, higher than the default', 500, 400, 400, 'repository', true],
    ['the same', 30, 30, 30, 'repository', true],
  ]
  it.each(asked)('a repository that asks for %s', (_, operator, wish, value, source, taken) => {
    const { limits } = effectiveConfig(
      operator === undefined ? nobody : { version: 1, limits: { turnsMax: operator } },
      repository({ limits: { turnsMax: wish } }),
    )
    expect(limits.turnsMax).toEqual({ value, source, notTaken: taken ? null : { value: wish, why: expect.any(String) } })
  })
  it('a repository may set a money cap where there is none, and not lift one', () => {
    expect(effectiveConfig(nobody, repository({ limits: { costMicroUsdMax: 5 } })).limits.costMicroUsdMax).toMatchObject({
      value: 5,
      source: 'repository',
    })
    const capped = effectiveConfig({ version: 1, limits: { costMicroUsdMax: 3 } }, repository({ limits: { costMicroUsdMax: 5 } }))
    expect(capped.limits.costMicroUsdMax).toMatchObject({ value: 3, source: 'operator', notTaken: { value: 5 } })
  })

  const profiles: [operator: ProfileName | undefined, wish: 'workspace' | 'strict' | 'read-only', value: ProfileName][] = [
    [undefined, 'strict', 'strict'],
    [undefined, 'read-only', 'read-only'],
    [undefined, 'workspace', 'workspace'],
    ['strict', 'workspace', 'strict'],
    ['strict', 'read-only', 'strict'],
    ['read-only', 'strict', 'read-only'],
    ['read-only', 'workspace', 'read-only'],
    ['devbox', 'workspace', 'workspace'],
    ['off', 'strict', 'strict'],
  ]
  it.each(profiles)('operator %s, repository %s: %s', (operator, wish, value) => {
    const config = effectiveConfig(operator ? { version: 1, sandbox: { profile: operator } } : nobody, repository({ profile: wish }))
    expect(config.profile.value).toBe(value)
    expect(config.profile.notTaken === null).toBe(config.profile.source === 'repository')
  })
  const narrowest: [names: string[], narrowest: ProfileName | null][] = [
    [['workspace', 'workspace'], 'workspace'],
    [['workspace', 'devbox'], 'workspace'],
    [['devbox', 'workspace'], 'workspace'],
    [['off', 'devbox', 'strict'], 'strict'],
    [['workspace', 'off', 'read-only'], 'read-only'],
    [['read-only', 'review'], 'review'],
    [['strict', 'read-only'], null],
    [['workspace', 'Workspace'], null],
    [['workspace', 'constructor'], null],
  ]
  it.each(narrowest)('of %j the narrowest is %s', (names, profile) => {
    expect(narrowestProfile(names)).toBe(profile)
  })
  it('a task is held to its own profile, and a repository can still narrow that', () => {
    const devbox = { version: 1, sandbox: { profile: 'devbox' } } as const
    const held = (wish?: 'workspace' | 'strict') =>
      effectiveConfig(devbox, wish ? repository({ profile: wish }) : absent, 'workspace').profile
    expect([held().value, held('workspace').value, held('strict').value]).toEqual(['workspace', 'workspace', 'strict'])
  })
  it('a broken file counts as the most restrictive one, whatever is in it', () => {
    const config = effectiveConfig(nobody, { kind: 'broken', problem: 'grok.yml:3:3: limits.turnMax' })
    expect(config).toMatchObject({
      setup: { value: [], source: 'repository' },
      checks: { value: [], source: 'repository' },
      profile: { value: 'strict', source: 'repository' },
      problem: 'grok.yml:3:3: limits.turnMax',
    })
  })
})

describe('a broken file', () => {
  const broken: [name: string, schema: typeof OperatorConfig | typeof RepositoryConfig, text: string, at: string, path: string][] = [
    ['an unknown key, at the key', RepositoryConfig, 'version: 1\nlimits:\n  turnsMax: 3\n  turnMax: 900\n', '4:3', 'limits.turnMax'],
    ['an unknown key at the top', RepositoryConfig, 'version: 1\nsandbox: {}\n', '2:1', 'sandbox'],
    ['a value of the wrong type', RepositoryConfig, 'version: 1\nlimits:\n  turnsMax: many\n', '3:13', 'limits.turnsMax'],
    ['one item of a list', RepositoryConfig, 'version: 1\nchecks:\n  - npm test\n  - ""\n', '4:5', 'checks.1'],
    ['a missing version', RepositoryConfig, 'checks: []\n', '1:1', 'version'],
    ['a syntax error', RepositoryConfig, 'version: 1\nchecks: [a\n', '3:1', ''],
    ['a key that stands twice', RepositoryConfig, 'version: 1\nversion: 1\n', '2:1', ''],
    ['a relative root of the operator', OperatorConfig, 'version: 1\nsandbox:\n  roots: [opt]\n', '3:11', 'sandbox.roots.0'],
    ['nothing but a text', OperatorConfig, 'hello\n', '1:1', ''],
    ...['https://a.example:443', 'a.example', 'a.example.:443', 'a_b.example:443', '0x7f.1:80', 'a.example:70000', '[::1]:80', 'a b:1'].map(
      place =>
        [`the place ${place}`, OperatorConfig, `version: 1\negress:\n  allow: ['b.example:1', '${place}']\n`, '3:26', 'egress.allow.1'] as [
          string,
          typeof OperatorConfig,
          string,
          string,
          string,
        ],
    ),
  ]
  it.each(broken)('%s', (_, schema, text, at, path) => {
    const parsed = parseConfig(schema, text)
    expect(parsed.kind).toBe('invalid')
    const [first] = parsed.kind === 'invalid' ? parsed.problems : []
    expect([`${first?.line}:${first?.column}`, first?.path]).toEqual([at, path])
  })
  it('is none because of a host in upper case, which is the same host; nor because of an address or any name', () => {
    const parsed = parseConfig(
      OperatorConfig,
      "version: 1\negress:\n  allow: ['Registry.Example:443', '10.1.2.3:4873', '*:443', 'localhost:80']\n",
    )
    expect(parsed).toMatchObject({ value: { egress: { allow: ['registry.example:443', '10.1.2.3:4873', '*:443', 'localhost:80'] } } })
    const allow = parsed.kind === 'parsed' ? ((parsed.value as OperatorConfig).egress?.allow ?? []) : []
    // What the config takes, the proxy can match.
    expect(findUnusableEntry(allow.map(place => ({ host: place.split(':')[0] ?? '', port: Number(place.split(':')[1]) })))).toBe(null)
  })
  it('is told of an alias bomb and of its size, and is not read', () => {
    const bomb = `version: 1\na: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f'].map((name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdef'[index]}`).join(',')}]`).join('\n')}\n`
    expect(parseConfig(RepositoryConfig, bomb).kind).toBe('invalid')
    expect(parseConfig(RepositoryConfig, '['.repeat(20_000)).kind).toBe('invalid')
    expect(parseConfig(RepositoryConfig, `version: 1\n? ${'{a: '.repeat(5_000)}`).kind).toBe('invalid')
    expect(parseConfig(RepositoryConfig, `# ${'x'.repeat(70_000)}\n`)).toMatchObject({
      kind: 'invalid',
      problems: [{ line: 1, column: 1 }],
    })
  })
})
