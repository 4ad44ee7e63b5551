import { type Account, type AccountType, findAccount, type GitHubState } from './state.ts'

export type NewAccount = { login: string; type?: AccountType; id?: number; name?: string }

/** The account of that login, made if it is not there. */
export function addAccount(state: GitHubState, given: NewAccount): Account {
  const present = findAccount(state, given.login)
  if (present) return present
  const account: Account = {
    id: given.id ?? state.nextId(),
    login: given.login,
    type: given.type ?? 'User',
    name: given.name ?? null,
    siteAdmin: false,
  }
  state.accounts.set(account.login.toLowerCase(), account)
  return account
}

/** Null for an account that was deleted. */
export function accountOf(state: GitHubState, given: NewAccount | null | undefined): Account | null {
  return given ? addAccount(state, given) : null
}
