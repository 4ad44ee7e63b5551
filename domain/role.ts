/** GitHub's roles in a repository, the least first. */
export const roles = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const
export type Role = (typeof roles)[number]

/** Whether somebody of this role may do what needs that one. */
export function hasRole(role: Role, needs: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needs)
}
