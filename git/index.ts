export { type AdoptTreeOptions, adoptTree } from './adopt-tree.ts'
export { type ApplyResult, applyChange, type ProvenChange, type Remedy } from './apply-change.ts'
export { type CommitOptions, commitTree } from './commit-tree.ts'
export { diffHunks, type Hunk } from './diff-hunks.ts'
export { diffTrees } from './diff-trees.ts'
export { type FetchOptions, fetchMirror } from './fetch-mirror.ts'
export { findStart, readCommitted, type Start } from './find-start.ts'
export type {
  AdoptedTree,
  BaseResult,
  Credential,
  FetchResult,
  FileAt,
  HostMount,
  Mirror,
  PushResult,
  Remote,
  RemoteFault,
  Store,
  TreeDiff,
  TreeEntry,
  TreePlan,
  TreeRules,
  TreeSelection,
  Workspace,
  WorkspaceUser,
} from './git.ts'
export { hasCommit } from './has-commit.ts'
export { listLinks } from './list-links.ts'
export { listUncommitted, type Uncommitted } from './list-uncommitted.ts'
export { type MergedTrees, mergeTrees } from './merge-trees.ts'
export { type OpenMirrorOptions, openMirror } from './mirror.ts'
export { mixTrees } from './mix-trees.ts'
export { planRestore, type RestorePlan } from './plan-restore.ts'
export { planRights } from './plan-rights.ts'
export { type PlanTreeOptions, planTree } from './plan-tree.ts'
export { type PushOptions, pushCommit, type RemoteRef, readRemoteRef } from './push-commit.ts'
export { type ChangeEntry, type ChangeRead, readChange } from './read-change.ts'
export { type CommitRead, readCommit } from './read-commit.ts'
export { listTreeAt, readFileAt } from './read-file-at.ts'
export { removeRun } from './remove-run.ts'
export { listTasks, removeLeftovers, removeTask } from './remove-task.ts'
export { mergeBase, resolveBase } from './resolve-base.ts'
export { removeScratchFolders } from './scratch-folder.ts'
export { pathBytes, showPath } from './shown-path.ts'
export { openStore } from './store.ts'
export { wantsSignOff } from './wants-sign-off.ts'
export { type OpenWorkspaceOptions, openWorkspace } from './workspace.ts'
