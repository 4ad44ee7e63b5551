import { defaultLimits, type LimitName, limitTable } from './limits.ts'
import type { OperatorConfig } from './operator-config.ts'
import type { ConfigProblem } from './parse-config.ts'
import type { RepositoryConfig } from './repository-config.ts'

/** Who said it. `repository` can only narrow what the others say. */
export type ConfigSource = 'default' | 'operator' | 'repository'

/** One value that counts, with where it comes from; `notTaken` is what a repository asked for and does not get. */
export type Setting<T> = { value: T; source: ConfigSource; notTaken: { value: T; why: string } | null }

export type CiStart = 'always' | 'after-approval'

export type ProfileName = 'workspace' | 'devbox' | 'read-only' | 'strict' | 'off' | 'review'

/** What counts for one task: the operator's file and the repository's, merged in one place for the worker and the command line. */
export type EffectiveConfig = {
  limits: { [Name in LimitName]: Setting<number> }
  profile: Setting<ProfileName>
  /** Null: what is detected counts. */
  setup: Setting<readonly string[] | null>
  checks: Setting<readonly string[] | null>
  include: Setting<readonly string[]>
  protected: Setting<readonly string[]>
  /** Whether CI starts on our commits by itself. Null: not on those of a task that read a stranger's text. */
  ci: Setting<CiStart | null>
  links: Setting<'page' | 'artifact'>
  policy: Setting<'required' | 'prefer'>
  roots: Setting<readonly string[]>
  masked: Setting<readonly string[]>
  readHost: Setting<boolean>
  egressAllow: Setting<readonly string[]>
  egressAllowPrivate: Setting<readonly string[]>
  /** Why nothing of the repository's file counts; null when it is usable or absent. */
  problem: string | null
}

export type RepositoryRead = { kind: 'absent' } | { kind: 'read'; config: RepositoryConfig } | { kind: 'broken'; problem: string }

/**
 * Pure. A broken repository file is taken for the most restrictive one: no setup, so no network, no checks, so nothing is
 * proven, and the strictest profile. Nothing is detected in its place.
 */
export function effectiveConfig(
  operator: OperatorConfig,
  repository: RepositoryRead,
  /** The most a task may have, when it is more than asked of the operator's file: see `narrowestProfile`. */
  profileMax: ProfileName | null = null,
): EffectiveConfig {
  const wanted: Omit<RepositoryConfig, 'version'> =
    repository.kind === 'read' ? repository.config : repository.kind === 'broken' ? restrictive : {}
  const { sandbox, egress } = operator
  return {
    limits: mergeLimits(operator, wanted),
    profile: mergeProfile(operator, wanted.profile, profileMax),
    setup: fromRepository(wanted.setup, null),
    checks: fromRepository(wanted.checks, null),
    include: fromRepository(wanted.include, []),
    protected: fromRepository(wanted.protected, []),
    ci: mergeCi(operator, wanted.ci),
    links: fromRepository<'page' | 'artifact'>(wanted.links, 'page'),
    policy: fromOperator(sandbox?.policy, 'required'),
    roots: fromOperator(sandbox?.roots, []),
    masked: fromOperator(sandbox?.masked, []),
    readHost: fromOperator(sandbox?.readHost, false),
    egressAllow: fromOperator(egress?.allow, []),
    egressAllowPrivate: fromOperator(egress?.allowPrivate, []),
    problem: repository.kind === 'broken' ? repository.problem : null,
  }
}

/** What a broken file counts as. */
const restrictive = { setup: [], checks: [], profile: 'strict' } as const satisfies Omit<RepositoryConfig, 'version'>

/** Problems of a file as lines a person can jump to: `file:line:column: key message`. */
export function describeProblems(file: string, problems: readonly ConfigProblem[]): string[] {
  return problems.map(
    ({ line, column, path, message }) => `${file}:${line}:${column}: ${[path, message].filter(text => text !== '').join(' ')}`,
  )
}

function mergeLimits({ limits: set = {} }: OperatorConfig, { limits: asked = {} }: Omit<RepositoryConfig, 'version'>) {
  const defaults = defaultLimits()
  const names = Object.keys(limitTable) as LimitName[]
  return Object.fromEntries(
    names.map(name => {
      const value = set[name] ?? defaults[name]
      const base: Setting<number> = { value, source: set[name] === undefined ? 'default' : 'operator', notTaken: null }
      const wish = asked[name as keyof typeof asked]
      return [name, wish === undefined ? base : lower(base, wish, zeroIsNone.has(name))]
    }),
  ) as EffectiveConfig['limits']
}

/** Limits of which 0 means that there is none. */
const zeroIsNone = new Set<LimitName>(['costMicroUsdMax'])

function lower(base: Setting<number>, wish: number, zeroMeansNone: boolean): Setting<number> {
  const unlimited = zeroMeansNone && base.value === 0
  if (unlimited || wish <= base.value) return { value: wish, source: 'repository', notTaken: null }
  return { ...base, notTaken: { value: wish, why: 'a repository can only lower a limit' } }
}

/** How far each profile lets a command see and write; `off` is beyond all. One is narrower only if it is so in both. */
const reach: Record<ProfileName, { reads: number; writes: number }> = {
  off: { reads: 4, writes: 3 },
  devbox: { reads: 3, writes: 2 },
  workspace: { reads: 2, writes: 1 },
  'read-only': { reads: 2, writes: 0 },
  review: { reads: 1, writes: 0 },
  strict: { reads: 0, writes: 1 },
}

/**
 * The one of these profiles that lets a command see and write no more than any other of them; null when there is none, as
 * of `strict` and `read-only`, or when one is no profile of this version.
 */
export function narrowestProfile(names: readonly string[]): ProfileName | null {
  const known = names.filter((name): name is ProfileName => Object.hasOwn(reach, name))
  if (known.length < names.length) return null
  return known.find(name => known.every(other => isWithin(name, other))) ?? null
}

function isWithin(one: ProfileName, other: ProfileName): boolean {
  return reach[one].reads <= reach[other].reads && reach[one].writes <= reach[other].writes
}

function mergeProfile({ sandbox }: OperatorConfig, wish: ProfileName | undefined, profileMax: ProfileName | null): Setting<ProfileName> {
  const set = fromOperator<ProfileName>(sandbox?.profile, 'workspace')
  const base = profileMax === null ? set : { ...set, value: profileMax }
  if (wish === undefined) return base
  if (isWithin(wish, base.value)) return { value: wish, source: 'repository', notTaken: null }
  return { ...base, notTaken: { value: wish, why: 'a repository can only narrow the profile' } }
}

function mergeCi({ ci }: OperatorConfig, wish: CiStart | undefined): Setting<CiStart | null> {
  const base = fromOperator<CiStart | null>(ci, null)
  if (wish === undefined || wish === base.value) return base
  if (wish === 'after-approval') return { value: wish, source: 'repository', notTaken: null }
  return { ...base, notTaken: { value: wish, why: 'only the operator can let CI start on what a stranger may have steered' } }
}

function fromOperator<T>(set: T | undefined, otherwise: T): Setting<T> {
  return { value: set ?? otherwise, source: set === undefined ? 'default' : 'operator', notTaken: null }
}

function fromRepository<T>(set: T | undefined, otherwise: T): Setting<T> {
  return { value: set ?? otherwise, source: set === undefined ? 'default' : 'repository', notTaken: null }
}
