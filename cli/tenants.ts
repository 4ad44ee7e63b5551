import { describeProfile } from '../sandbox/index.ts'
import type { WorkerSettings } from '../worker/index.ts'
import { UsageError } from './exit.ts'

/** A tenant is an owner: one App installation, one set of people. Null = whoever installs the App. */
export function tenantsOf(allowedOwners: readonly string[] | null): 'one' | 'several' {
  return allowedOwners?.length === 1 ? 'one' : 'several'
}

/** What keeps tenants apart must be there before the first of them is served. Throws `UsageError`. */
export function requireTenantsApart({ operator }: WorkerSettings, allowedOwners: readonly string[] | null): void {
  if (tenantsOf(allowedOwners) === 'one') return
  const { profile, singleUidTenants } = operator.sandbox ?? {}
  const oneOwner = 'or serve one owner: ALLOWED_OWNERS'
  if (profile && describeProfile(profile)?.singleTenantOnly)
    throw new UsageError('tenants-profile', `the profile ${profile} is for a worker of one tenant, and this one serves several`, [
      'choose workspace or strict: sandbox.profile',
      oneOwner,
    ])
  if (process.getuid?.() !== 0 && !singleUidTenants)
    throw new UsageError('tenants-one-user', 'several tenants would share one Unix user, which only the sandbox keeps apart', [
      'start as root, so that each session has a user of its own',
      oneOwner,
      'or say that this is meant: sandbox.singleUidTenants: true',
    ])
}
