import type { GitHubState, Issue, Label, Repository } from './state.ts'

/** Putting an unknown label on an issue makes it, as on GitHub. */
export function setLabels(state: GitHubState, repository: Repository, issue: Issue, wanted: string[]): void {
  const labels = wanted.map(name => repository.labels.get(name.toLowerCase()) ?? addLabel(state, repository, { name }))
  issue.labels = [...new Set(labels.map(label => label.name))]
  issue.updatedAt = state.now()
}

export function addLabel(
  state: GitHubState,
  repository: Repository,
  given: { name: string; color?: string | undefined; description?: string | undefined },
): Label {
  const label: Label = { id: state.nextId(), name: given.name, color: given.color ?? 'ededed', description: given.description ?? null }
  repository.labels.set(label.name.toLowerCase(), label)
  return label
}
