import { randomText } from '../credential.ts'
import { changeInstallation, install, requireInstallation, uninstall } from '../installation.ts'
import { type Account, type GitHubState, type Installation, type Permissions, requireAccount, requireRepository } from '../state.ts'

/** The App's installations, and tokens. */
export function createAppActions(state: GitHubState) {
  const senderOf = (login: string | undefined, { account }: Installation): Account =>
    login === undefined ? account : requireAccount(state, login)
  return {
    installation: (owner: string): Installation => requireInstallation(state, owner),
    /** Once more, after it was uninstalled: a new installation with an id of its own. */
    install: (owner: string, sender?: string): Installation => {
      const installation = install(state, requireAccount(state, owner))
      state.emit({ event: 'installation', action: 'created', installation, sender: senderOf(sender, installation) })
      return installation
    },
    setInstallation: (
      owner: string,
      change: { permissions?: Permissions; repositories?: string[] | null; suspended?: boolean; sender?: string },
    ) => {
      const installation = requireInstallation(state, owner)
      const { repositories: names, sender, ...rest } = change
      changeInstallation(state, installation, {
        ...rest,
        ...(names === undefined ? {} : { repositories: names === null ? null : names.map(name => requireRepository(state, name)) }),
        sender: senderOf(sender, installation),
      })
    },
    uninstall: (owner: string, sender?: string) => {
      const installation = requireInstallation(state, owner)
      uninstall(state, installation, senderOf(sender, installation))
    },
    /** A person's token, for what a person would do with git or the API. */
    userToken: (login: string): string => {
      const value = `ghp_${randomText(36)}`
      state.tokens.set(value, { kind: 'user', actor: requireAccount(state, login), expiresAt: Number.POSITIVE_INFINITY })
      return value
    },
    /** Makes every installation token handed out so far worthless, as time would. */
    expireTokens: () => {
      for (const token of state.tokens.values()) if (token.kind === 'installation') token.expiresAt = 0
    },
  }
}
