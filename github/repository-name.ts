export type RepositoryName = { owner: string; repo: string }
