import { grants } from './permission.ts'
import { runGit } from './repository-git.ts'
import type { Repository, Ruleset, Token } from './state.ts'

export type RefUpdate = { ref: string; old: string | null; next: string | null }

/** What the server says of a ref that may not move so: by whom it is guarded decides how it is said. */
export type RefRefusal = { by: 'workflows' | 'protection' | 'ruleset'; reasons: string[] }

const throughPull = 'Changes must be made through a pull request.'
const unsigned = 'Commits must have verified signatures.'
const noForce = 'Cannot force-push to this branch'
const noDelete = 'Cannot delete this branch'
const noCreate = 'Cannot create ref due to creations being restricted.'

/** The rules of a ref for the REST API; for a push the update hook holds the same ones. */
export async function refuseRef(repository: Repository, token: Token | null, update: RefUpdate): Promise<RefRefusal | null> {
  const branch = /^refs\/heads\/(.+)$/.exec(update.ref)?.[1]
  const path = await findWorkflow(repository.folder, token, update)
  if (path !== null) return { by: 'workflows', reasons: [workflowRefusal(path)] }
  if (branch === undefined) return null
  const rule = repository.protections.get(branch)
  const fitting = repository.rulesets.filter(each => fits(each, branch))
  if (!rule && fitting.length === 0) return null
  const facts = await readFacts(repository, update)
  if (rule) {
    const reasons = [
      ...(facts.deletes ? [noDelete] : []),
      ...(!facts.deletes && rule.requirePullRequest ? [throughPull] : []),
      ...(facts.rewrites && !rule.allowForcePushes ? [noForce] : []),
      ...(rule.requireSignatures && facts.unsigned.length > 0 ? [unsigned] : []),
    ]
    if (reasons.length > 0) return { by: 'protection', reasons }
  }
  const rules = new Set<string>(fitting.flatMap(each => each.rules))
  const reasons = [
    ...(facts.creates && rules.has('creation') ? [noCreate] : []),
    ...(facts.deletes && rules.has('deletion') ? [noDelete] : []),
    ...(facts.rewrites && rules.has('non_fast_forward') ? [noForce] : []),
    ...(!facts.creates && !facts.deletes && rules.has('pull_request') ? [throughPull] : []),
    ...(facts.unsigned.length > 0 && rules.has('required_signatures') ? [unsigned] : []),
  ]
  return reasons.length > 0 ? { by: 'ruleset', reasons } : null
}

export function fits({ branches }: Ruleset, branch: string): boolean {
  return branches.some(pattern => new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`).test(branch))
}

/** The message of the REST API, where a push is told `GH013`. */
export function ruleViolations(reasons: readonly string[]): string {
  return `Repository rule violations found\n\n${reasons.map(each => `${each}\n\n`).join('')}`
}

export function workflowRefusal(path: string): string {
  return `refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission`
}

async function readFacts({ folder, signedCommits }: Repository, { old, next }: RefUpdate) {
  const creates = old === null
  const deletes = next === null
  const rewrites = !creates && !deletes && (await runGit(folder, ['merge-base', '--is-ancestor', old, next])).exitCode !== 0
  const range = next === null ? null : old === null ? [next, '--not', '--branches'] : [next, `^${old}`]
  const listed = range ? (await runGit(folder, ['rev-list', ...range])).stdout.toString() : ''
  return { creates, deletes, rewrites, unsigned: listed.split('\n').filter(sha => sha !== '' && !signedCommits.has(sha)) }
}

/** The first workflow file that commits new to the repository change, where the token may not. */
async function findWorkflow(folder: string, token: Token | null, { next }: RefUpdate): Promise<string | null> {
  if (next === null || token?.kind !== 'installation' || grants(token.permissions, 'workflows', 'write')) return null
  const args = ['log', '-m', '--first-parent', '--format=', '--name-only', next, '--not', '--branches', '--', '.github/workflows']
  const { stdout } = await runGit(folder, ['-c', 'core.quotePath=false', ...args])
  return stdout.toString().split('\n')[0] || null
}
